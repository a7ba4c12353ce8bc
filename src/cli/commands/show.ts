import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { WireMessage } from '../../protocol/message.ts';
import type { WireSnapshot } from '../../protocol/snapshot.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';
import { listPrompts, queueText, type ListedPrompt } from './queue.ts';

export async function runShow(context: CommandContext, session: string, messageLimit: number): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const message_limit = Math.min(messageLimit, 500);
    const snapshot = await connection.call('session.resume', { session_id: session, message_limit });
    if (context.json) printResult(context, snapshot, () => '');
    else {
      const prompts = await listPrompts(connection, session, 'open');
      printResult(context, snapshot, () => showText(context, snapshot, prompts));
    }
    return exitCodes.ok;
  });
}

function showText(context: CommandContext, snapshot: WireSnapshot, prompts: readonly ListedPrompt[]): string {
  const { context: size, hold } = snapshot;
  const percent = Math.round((100 * size.tokens) / Math.max(size.window_tokens, 1));
  return [
    snapshot.title ?? '(no title)',
    `session      ${snapshot.session_id}`,
    `transcript   ${snapshot.stored_session_id}`,
    `model        ${snapshot.model} (${snapshot.provider})`,
    `context      ${size.tokens} of ${size.window_tokens} tokens (${percent} %); compressed at ${size.trigger_tokens}`,
    ...(hold === null
      ? []
      : [
          `held         ${hold.reason}${hold.until === null ? '' : `, until ${hold.until}`}; holdfast release ${snapshot.session_id} ends it`,
        ]),
    '',
    ...(snapshot.more_messages ? ['(older messages are not shown)', ''] : []),
    ...snapshot.messages.flatMap((message) => [messageHead(message), message.text, '']),
    queueText(context, prompts),
  ].join('\n');
}

function messageHead({ role, kind, partial, truncated, at }: WireMessage): string {
  const name = kind === 'summary' ? 'summary of what came before' : kind === 'note' ? 'note' : role;
  const marks = [...(partial ? ['not finished'] : []), ...(truncated === true ? ['cut'] : [])];
  return `── ${name}${marks.length === 0 ? '' : ` (${marks.join(', ')})`} · ${at}`;
}
