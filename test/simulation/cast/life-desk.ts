import type { Command } from '../../../src/core/domain/session/commands.ts';
import type { HistoryEntry, SearchHit } from '../../../src/core/ports/session-queries.ts';
import type { Asked } from '../judge/calls.ts';
import type { ClientJudge } from '../judge/client-judge.ts';
import type { Answered, Request } from './front-desk.ts';
import type { GatewayProcess, Services } from './gateway-process.ts';

export type UpdateChanges = Command<'update'>['changes'];
type LifeRequest = Extract<
  Request,
  { do: 'edit' | 'move' | 'update' | 'delete' | 'fork' | 'history' | 'lineage' | 'search' }
>;
type AskedOf<K extends LifeRequest['do']> = Extract<LifeRequest, { do: K }> & Asked;

interface Desk {
  readonly clients: ClientJudge;
  readonly process: GatewayProcess;
  readonly services: Services;
}

/** Serves what changes a queue or a session as a whole, and what reads a whole lineage, as the RPC adapter does. */
export async function serveLife(desk: Desk, asked: LifeRequest & Asked): Promise<Answered> {
  switch (asked.do) {
    case 'edit':
      return edit(desk, asked);
    case 'move':
      return move(desk, asked);
    case 'update':
      return update(desk, asked);
    case 'delete':
      return remove(desk, asked);
    case 'fork':
      return fork(desk, asked);
    case 'history':
      return history(desk, asked);
    case 'lineage':
      return lineage(desk, asked);
    case 'search':
      return search(desk, asked);
  }
}

async function edit({ clients, process, services }: Desk, asked: AskedOf<'edit'>): Promise<Answered> {
  const { sessionId, revision, text } = asked;
  const sent = await services.editPrompt({ sessionId, key: keyOf(asked), revision, payload: { text, parts: null } });
  if (!clients.explains(process, asked, sent)) clients.edited(process, asked, sent);
  return sent;
}

async function move({ clients, process, services }: Desk, asked: AskedOf<'move'>): Promise<Answered> {
  const { sessionId, revision, to: place } = asked;
  const to = typeof place === 'string' ? place : { before: { admissionId: place.before } };
  const command = { kind: 'move', key: keyOf(asked), revision, to, known: undefined } as const;
  const sent = await services.gateway.sessions.send(sessionId, command);
  if (!clients.explains(process, asked, sent)) clients.moved(process, asked, sent);
  return sent;
}

function keyOf({ admissionId, inputId, principalId }: AskedOf<'edit' | 'move'>): Command<'edit'>['key'] {
  return admissionId === null ? { inputId, principalId } : { admissionId };
}

async function update({ clients, process, services }: Desk, asked: AskedOf<'update'>): Promise<Answered> {
  const { sessionId, changes, revision, principalId: by } = asked;
  const sent = await services.gateway.sessions.send(sessionId, { kind: 'update', changes, revision, by });
  if (!clients.explains(process, asked, sent)) clients.updated(process, asked, sent);
  return sent;
}

async function remove({ clients, process, services }: Desk, asked: AskedOf<'delete'>): Promise<Answered> {
  const sent = await services.gateway.sessions.send(asked.sessionId, { kind: 'delete', by: asked.principalId });
  if (!clients.explains(process, asked, sent)) clients.deleted(process, asked, sent);
  return sent;
}

async function fork({ clients, process, services }: Desk, asked: AskedOf<'fork'>): Promise<Answered> {
  const { sessionId, requestId, messageId } = asked;
  const sent = await services.forkSession({ principalId: 'local', requestId, sessionId, messageId, title: null });
  clients.forked(process, asked, sent);
  return sent;
}

async function history({ clients, process, services }: Desk, asked: AskedOf<'history'>): Promise<Answered> {
  const { sessionId, forward, limit } = asked;
  const { queries } = services;
  if ((await queries.findSession(sessionId)) === null) return notFound(clients, process, asked);
  let entries: readonly HistoryEntry[] = [];
  for (let more = true; more;) {
    const before = forward ? null : (entries[0]?.seq ?? null);
    const after = forward ? (entries.at(-1)?.seq ?? 0) : null;
    const page = await queries.history({ sessionId, before, after, limit });
    entries = forward ? [...entries, ...page.entries] : [...page.entries, ...entries];
    ({ more } = page);
  }
  clients.historyRead(asked, entries);
  return { kind: 'done' };
}

async function lineage({ clients, process, services }: Desk, asked: AskedOf<'lineage'>): Promise<Answered> {
  const { queries } = services;
  if ((await queries.findSession(asked.sessionId)) === null) return notFound(clients, process, asked);
  clients.lineageRead(asked, await queries.lineage(asked.sessionId));
  return { kind: 'done' };
}

async function search({ clients, process, services }: Desk, asked: AskedOf<'search'>): Promise<Answered> {
  const { queries } = services;
  const { words, everywhere, limit, sessionId: wanted } = asked;
  const deletedBefore = clients.deletedSessions();
  const sessionId = everywhere ? null : wanted;
  if (sessionId !== null && (await queries.findSession(sessionId)) === null) return notFound(clients, process, asked);
  const terms = { phrases: [{ words, isPrefix: false }] };
  let hits: readonly SearchHit[] = [];
  for (let before: number | null = null, more = true; more;) {
    const page: Awaited<ReturnType<typeof queries.search>> = await queries.search({
      principalId: 'local',
      sessionId,
      terms,
      before,
      limit,
    });
    hits = [...hits, ...page.hits];
    before = page.next;
    more = page.next !== null;
  }
  clients.found({ ...asked, deletedBefore }, hits);
  return { kind: 'done' };
}

function notFound(clients: ClientJudge, process: GatewayProcess, asked: Asked & { readonly do: string }): Answered {
  clients.explains(process, asked, { kind: 'not_found' });
  return { kind: 'refused', refusal: { reason: 'not_found' } };
}
