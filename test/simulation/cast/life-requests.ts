import { promptOf } from './prompt-of.ts';
import type { Command } from '../history/commands.ts';
import type { AdmissionRow } from '../judge/rows.ts';
import { smallSuffix } from '../ports/model-scripts.ts';
import type { Request, To } from './front-desk.ts';
import type { Site } from './site.ts';

type CommandOf<K extends Command['do']> = Extract<Command, { do: K }>;

/** What an edit asks for. */
export function editRequest(site: Site, to: To, command: CommandOf<'edit'>): Request {
  const { key, variant } = command;
  const row = targetOf(site, to, command);
  const text = promptOf(site.settings, row?.inputId ?? `k${key}`, key + variant, `edit ${variant}`);
  return { do: 'edit', ...to, ...namesOf(to, row, command), revision: revisionOf(row, command.revision), text };
}

export function moveRequest(site: Site, to: To, command: CommandOf<'move'>): Request {
  const waiting = waitingOf(site, to.sessionId);
  const row = targetOf(site, to, command);
  const neighbour = waiting[command.other % Math.max(1, waiting.length)]?.admissionId ?? 'nobody';
  const place = command.to === 'before' ? { before: neighbour } : command.to;
  return { do: 'move', ...to, ...namesOf(to, row, command), revision: revisionOf(row, command.revision), to: place };
}

/** The last two that wait change places again and again: until no number is left between them and who is before them. */
export function changesOfPlace(site: Site, to: To, times: number): readonly Request[] {
  const [first, second] = waitingOf(site, to.sessionId).slice(-2);
  if (first === undefined || second === undefined) return [];
  return Array.from({ length: times }, (_, round): Request => {
    const [moved, before] = round % 2 === 0 ? [second, first] : [first, second];
    const { admissionId, inputId } = moved;
    return { do: 'move', ...to, admissionId, inputId, revision: null, to: { before: before.admissionId } };
  });
}

export function updateRequest(site: Site, to: To, { change, value, revision }: CommandOf<'update'>): Request {
  const session = site.view.session(to.sessionId);
  const model = (session?.model ?? '').replace(smallSuffix, '');
  const all = {
    title: { title: value === 0 ? null : `Title ${value}` },
    model: { model: { provider: 'custom', model: value === 0 ? model : `${model}${smallSuffix}`, baseUrl: null } },
    archived: { archived: value > 0 },
    pinned: { pinned: value > 0 },
  };
  const changes = change === 'everything' ? { ...all.title, ...all.archived, ...all.pinned } : all[change];
  const newest = session?.revision ?? 0;
  return { do: 'update', ...to, changes, revision: [null, newest, Math.max(1, newest - 1)][revision] ?? null };
}

/** Any message that the session ever had, in any of its transcripts; now and then one that it never had. */
export function forkRequest(site: Site, to: To, { key, message }: CommandOf<'fork'>): Request {
  const ids = site.view.transcripts(to.sessionId).flatMap(({ id }) => [...site.view.messages(id).keys()]);
  const messageId = ids[message % (ids.length + 1)] ?? 1_000_000;
  return { do: 'fork', ...to, requestId: `fork-${key}`, messageId };
}

/** Most aim at what waits: by its admission id, or by its input id where it is the client's own. */
function targetOf(
  site: Site,
  { sessionId, principalId }: To,
  { key, steer }: { readonly key: number; readonly steer: boolean },
): AdmissionRow | undefined {
  const waiting = steer ? waitingSteersOf(site, sessionId) : waitingOf(site, sessionId);
  if (key < 9 && waiting.length > 0) return waiting[key % waiting.length];
  const inputId = `${steer ? 's' : 'k'}${key}`;
  return [...site.view.admissions(sessionId).values()].find(
    (row) => row.inputId === inputId && row.principalId === principalId,
  );
}

function namesOf(
  { principalId }: To,
  row: AdmissionRow | undefined,
  { key, steer }: { readonly key: number; readonly steer: boolean },
): { readonly admissionId: string | null; readonly inputId: string } {
  const inputId = row?.inputId ?? `${steer ? 's' : 'k'}${key}`;
  const isOwn = row === undefined || row.principalId === principalId;
  return { admissionId: isOwn && key % 2 === 0 ? null : (row?.admissionId ?? null), inputId };
}

function waitingOf(site: Site, sessionId: string): readonly AdmissionRow[] {
  return [...site.view.admissions(sessionId).values()]
    .filter(({ status, delivery }) => status === 'queued' && delivery !== 'steer')
    .sort((a, b) => a.position - b.position);
}

function waitingSteersOf(site: Site, sessionId: string): readonly AdmissionRow[] {
  const rows = [...site.view.admissions(sessionId).values()];
  return rows.filter(({ status, delivery }) => status === 'queued' && delivery === 'steer');
}

function revisionOf(row: AdmissionRow | undefined, choice: number): number | null {
  return [null, row?.revision ?? 1, 99][choice] ?? null;
}
