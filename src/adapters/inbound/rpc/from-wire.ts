import type { PromptPayload } from '../../../core/domain/admission/admission.ts';
import type { QueuePlace } from '../../../core/domain/admission/move.ts';
import type { AdmissionKey } from '../../../core/domain/session/commands.ts';
import type { ContentPart } from '../../../core/domain/transcript/message.ts';
import type { AskedChanges, ModelChange } from '../../../core/domain/session/update.ts';
import type { CreateSessionInput } from '../../../core/use-cases/create-session.ts';
import type { FieldProblem } from '../../../protocol/field-problems.ts';
import type { WirePromptPart } from '../../../protocol/message.ts';
import type { ParsedParamsOf } from '../../../protocol/registry.ts';
import type { RpcDependencies } from './dependencies.ts';

export function createInputFromWire(params: ParsedParamsOf<'session.create'>, principalId: string): CreateSessionInput {
  return {
    principalId,
    requestId: params.request_id ?? null,
    source: params.source,
    title: params.title ?? null,
    provider: params.provider ?? null,
    model: params.model ?? null,
    baseUrl: params.base_url ?? null,
    cwd: params.cwd ?? null,
    systemPrompt: params.system_prompt ?? null,
    toolsets: params.toolsets ?? null,
  };
}

/** The changes that an update asks for, and why they can't be made. */
export function changesFromWire(
  params: ParsedParamsOf<'session.update'>,
  checkAddress: RpcDependencies['checkAddress'],
): { readonly changes: AskedChanges; readonly problems: readonly FieldProblem[] } {
  const { title, archived, pinned } = params;
  const { model, problems } = modelFromWire(params, checkAddress);
  const changes = {
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(archived === undefined ? {} : { archived }),
    ...(pinned === undefined ? {} : { pinned }),
  };
  return { changes, problems };
}

/** A model alone stays with the provider and the address that the session has, so there is nothing to check. */
function modelFromWire(
  { provider, model, base_url }: ParsedParamsOf<'session.update'>,
  checkAddress: RpcDependencies['checkAddress'],
): { readonly model?: ModelChange; readonly problems: readonly FieldProblem[] } {
  if (model === undefined) return { problems: [] };
  if (provider === undefined) return { model: { model }, problems: [] };
  const { problems, baseUrl, isStandard } = checkAddress(provider, base_url ?? null);
  const address = baseUrl === null ? {} : { baseUrl, isStandardAddress: isStandard };
  return { model: { provider, model, ...address }, problems };
}

/** The same content always gives the same payload, key by key, for its digest is the prompt's identity. */
export function payloadFromWire({
  text,
  parts,
}: Pick<ParsedParamsOf<'prompt.submit'>, 'text' | 'parts'>): PromptPayload {
  if (parts === undefined) return { text: text ?? '', parts: null };
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const [first] = texts;
  if (parts.length === 1 && first !== undefined) return { text: first, parts: null };
  return { text: texts.join('\n'), parts: parts.map(partFromWire) };
}

export function placeFromWire({ to, before }: ParsedParamsOf<'prompt.move'>): QueuePlace {
  return before === undefined ? (to ?? 'last') : { before: { admissionId: before } };
}

export function keyFromWire(
  params: { readonly admission_id?: string | undefined; readonly input_id?: string | undefined },
  principalId: string,
): AdmissionKey {
  if (params.admission_id !== undefined) return { admissionId: params.admission_id };
  return { inputId: params.input_id ?? '', principalId };
}

function partFromWire(part: WirePromptPart): ContentPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image', mediaType: part.media_type, data: part.data };
    case 'file':
      return { type: 'file', mediaType: part.media_type, data: part.data, name: part.name ?? null };
  }
}
