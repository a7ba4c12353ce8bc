import type { Request } from './front-desk.ts';

/** How a request is called in a trace. */
export function labelOf(request: Request): string {
  switch (request.do) {
    case 'submit':
      return `submit ${request.inputId} to ${request.address}${request.text.includes('changed') ? ', changed' : ''}`;
    case 'steer':
      return `steer ${request.inputId} to ${request.address} generation ${request.executionGeneration}`;
    case 'create':
      return `create ${request.requestId}, variant ${request.variant}`;
    case 'cancel':
    case 'receipt':
      return `${request.do} ${request.inputId} of ${request.address}`;
    case 'interrupt':
      return `interrupt ${request.address} generation ${request.executionGeneration}`;
    case 'resolve':
      return `${request.action} ${request.admissionId} generation ${request.executionGeneration}`;
    case 'respond':
      return `${request.answer} ${request.approvalId} of ${request.address}`;
    case 'compress':
      return `compress ${request.address} as ${request.requestId}`;
    case 'subscribe':
      return `subscribe ${request.address} after ${request.afterSeq}`;
    case 'edit':
    case 'move':
      return `${request.do} ${request.admissionId ?? request.inputId} of ${request.address}`;
    case 'update':
      return `update ${request.address} at ${request.revision} to ${JSON.stringify(request.changes)}`;
    case 'fork':
      return `fork ${request.address} at ${request.messageId} as ${request.requestId}`;
    case 'search':
      return `search ${request.words.join(' ')} in ${request.everywhere ? 'everything' : request.address}`;
    case 'delete':
    case 'history':
    case 'lineage':
    case 'hold':
    case 'release':
    case 'resume':
      return `${request.do} ${request.address}`;
    case 'status':
      return 'status';
  }
}
