/*
 * The journey that Holdfast exists for, as a client lives it: prompts wait in a queue, the running turn compresses the
 * transcript, the process is killed, and another one takes over.
 *
 * It starts real processes and speaks to them as every client does. What it tells is what they answered: no line is
 * printed for something that was not seen.
 */
import { exitCodes } from '../../config/exit-codes.ts';
import type { WireReceipt } from '../../protocol/receipt.ts';
import { admissionWords } from '../admission-words.ts';
import { CliFailure } from '../failure.ts';
import { printableLine } from '../printable.ts';
import type { DemoHome } from './demo-home.ts';
import { endOf, open, seen, watched, type Opened } from './opened-gateway.ts';
import type { DemoRecord } from './record.ts';
import type { SessionWatch } from './session-watch.ts';
import { lookAt, type Sighting } from './sighting.ts';
import { grouped, shortId, type Teller } from './teller.ts';

interface Prompt {
  readonly inputId: string;
  readonly text: string;
}

/** The commands are those of the demo model: `long N` answers with N words, `slow N` takes N seconds. */
const fillers: readonly Prompt[] = ['filler-1', 'filler-2', 'filler-3'].map((inputId) => ({
  inputId,
  text: 'long 900',
}));
const leader: Prompt = { inputId: 'leader', text: 'slow 60' };
const followers: readonly Prompt[] = [
  { inputId: 'follower-1', text: 'echo I am the first follower.' },
  { inputId: 'follower-2', text: 'echo I am the second follower.' },
  { inputId: 'follower-3', text: 'recap' },
];

export async function runJourney(home: DemoHome, teller: Teller): Promise<DemoRecord> {
  teller.step('A session fills up');
  const first = await open(home, teller);
  const { session_id: sessionId, context } = await first.connection.call('session.create', {
    source: 'cli',
    title: 'The demo',
  });
  teller.fact('session', sessionId);
  teller.fact(
    'limit',
    `a request of ${grouped(context.trigger_tokens)} tokens or more compresses the transcript first`,
  );
  const watch = await watched(first, sessionId);
  const filled = await fill(first, sessionId, teller);

  teller.step('The next prompt needs a compression, and three more wait behind it');
  const [led, ...followed] = await submitAtOnce(first, sessionId, teller);
  await compressed(watch, led, teller);

  teller.step('kill -9 in the middle of the answer');
  const beforeKill = await midAnswer(first, { watch, led, sessionId }, teller);
  const killed = await endOf(first, 'SIGKILL', teller);
  const heard = watch.durable;

  teller.step('A new process takes over');
  const second = await open(home, teller);
  const afterRestart = await lookAt(second.connection, sessionId);
  tellFound(afterRestart, [led, ...followed], teller);
  const sentAgain = await sendAgain(second, sessionId, teller);

  teller.step('Somebody decides: the lost turn is discarded');
  await drain(second, { sessionId, lost: afterRestart, led, followed }, teller);
  const afterDrain = await lookAt(second.connection, sessionId);

  teller.step('A clean stop, and a third process');
  const stopped = await endOf(second, 'SIGTERM', teller);
  const third = await open(home, teller);
  const atEnd = await lookAt(third.connection, sessionId);
  third.connection.close();

  return {
    sessionId,
    gateways: [seen(first, killed), seen(second, stopped), seen(third, null)],
    fillers: filled,
    leader: led,
    followers: followed,
    heard,
    beforeKill,
    afterRestart,
    sentAgain,
    afterDrain,
    atEnd,
  };
}

function submit({ connection }: Opened, sessionId: string, { inputId, text }: Prompt): Promise<WireReceipt> {
  return connection.call('prompt.submit', { session_id: sessionId, input_id: inputId, text });
}

async function fill(opened: Opened, sessionId: string, teller: Teller): Promise<readonly WireReceipt[]> {
  const receipts: WireReceipt[] = [];
  for (const prompt of fillers) {
    receipts.push(await submit(opened, sessionId, prompt));
    const params = { session_id: sessionId, input_id: prompt.inputId, timeout_ms: 45_000 };
    const end = await opened.connection.call('prompt.wait', params);
    if (end.outcome !== 'completed') throw unexpected(prompt.inputId, end);
    const { context } = await opened.connection.call('session.get', { session_id: sessionId });
    teller.fact(prompt.inputId, `"${prompt.text}": answered; the transcript has ${grouped(context.tokens)} tokens`);
  }
  return receipts;
}

/** In one go, so that the followers are there while the leader is still being prepared. */
async function submitAtOnce(
  opened: Opened,
  sessionId: string,
  teller: Teller,
): Promise<readonly [WireReceipt, ...WireReceipt[]]> {
  const [led, ...followed] = await Promise.all([
    submit(opened, sessionId, leader),
    ...followers.map((prompt) => submit(opened, sessionId, prompt)),
  ]);
  const texts = [leader, ...followers].map(({ text }) => text);
  teller.say('Four prompts are sent at once. Each receipt came when its prompt was on disk:');
  teller.table(
    ['INPUT ID', 'ADMISSION', 'SEQUENCE', 'AHEAD', 'TEXT'],
    [led, ...followed].map(({ input_id, admission_id, sequence, ahead }, index) => [
      input_id,
      shortId(admission_id),
      String(sequence),
      String(ahead),
      texts[index] ?? '',
    ]),
  );
  return [led, ...followed];
}

async function compressed(watch: SessionWatch, { admission_id, input_id }: WireReceipt, teller: Teller): Promise<void> {
  const { payload } = await watch.until('compression.completed', admission_id);
  const [before, after] = [grouped(payload.tokens_before), grouped(payload.tokens_after)];
  const [parent, child] = [shortId(payload.parent_transcript), shortId(payload.child_transcript)];
  teller.say(
    `The request for ${input_id} would have had ${before} tokens. So the gateway had the middle of the transcript summarised ` +
      'before it sent anything, and went on in a new transcript.',
  );
  teller.fact('compressed', `${before} → ${after} tokens, asked for by the ${payload.trigger} of ${input_id}`);
  teller.fact('transcript', `${parent} is closed → ${child} is its child`);
}

/** Waits until the model has begun to answer, and looks once more at everything. */
async function midAnswer(
  { connection }: Opened,
  { watch, led, sessionId }: { readonly watch: SessionWatch; readonly led: WireReceipt; readonly sessionId: string },
  teller: Teller,
): Promise<Sighting> {
  await watch.until('message.delta', led.admission_id, () => watch.heard(led.admission_id).split(' ').length >= 3);
  teller.fact(led.input_id, `its answer so far is "${watch.heard(led.admission_id)}"`);
  return lookAt(connection, sessionId);
}

function tellFound({ prompts }: Sighting, receipts: readonly WireReceipt[], teller: Teller): void {
  const found = receipts.flatMap(({ admission_id }) =>
    prompts.filter((prompt) => prompt.admission_id === admission_id),
  );
  teller.table(
    ['INPUT ID', 'ADMISSION', 'SEQUENCE', 'AHEAD', 'STATUS', 'BLOCKED BY'],
    found.map(({ input_id, admission_id, sequence, ahead, status, blocked_by }) => [
      input_id,
      shortId(admission_id),
      String(sequence),
      String(ahead),
      status,
      blocked_by.join(', '),
    ]),
  );
  for (const receipt of found) {
    const { input_id, evidence } = receipt;
    if (evidence === undefined) continue;
    const { boundary, step, owner_epoch: epoch, open_tool_calls: calls } = evidence;
    const at = `boundary "${boundary}", step ${step}, epoch ${epoch}, ${calls.length} open tool calls`;
    teller.fact(input_id, `${admissionWords(receipt)} (${at}). So it is not sent again until somebody decides.`);
  }
}

/** As a client does that does not know what the gateway still knows. */
async function sendAgain(opened: Opened, sessionId: string, teller: Teller): Promise<readonly WireReceipt[]> {
  const receipts = await Promise.all([leader, ...followers].map((prompt) => submit(opened, sessionId, prompt)));
  const known = receipts.filter(({ duplicate }) => duplicate).length;
  teller.say(`The client sends the ${receipts.length} prompts again, to be sure: ${known} of them are known already.`);
  return receipts;
}

interface Drain {
  readonly sessionId: string;
  readonly lost: Sighting;
  readonly led: WireReceipt;
  readonly followed: readonly WireReceipt[];
}

/** Ends the lost turn and watches its followers run. */
async function drain(opened: Opened, { sessionId, lost, led, followed }: Drain, teller: Teller): Promise<void> {
  const watch = await watched(opened, sessionId);
  const unknown = lost.prompts.find(({ admission_id }) => admission_id === led.admission_id);
  if (unknown?.status !== 'unknown' || unknown.execution_generation === null) throw unexpected(led.input_id, unknown);
  const resolved = await opened.connection.call('prompt.resolve_unknown', {
    session_id: sessionId,
    admission_id: led.admission_id,
    execution_generation: unknown.execution_generation,
    action: 'discard',
  });
  teller.fact(led.input_id, admissionWords(resolved));
  teller.say('Now its followers may run. The last one asks the model which requests it still sees.');
  for (const { admission_id, input_id } of followed) {
    const { payload } = await watch.until('turn.settled', admission_id);
    const answer = watch.durable
      .flatMap((event) => (event.type === 'message.appended' ? [event.payload.message] : []))
      .find((message) => message.admission_id === admission_id && message.kind === 'answer');
    const size = answer?.usage?.input_tokens ?? null;
    const said = (answer?.text ?? '').split('\n').map((line) => printableLine(line, 64));
    teller.fact(input_id, [`${payload.outcome}, ${requestWords(size)}:`, ...said].join('\n'));
  }
}

function requestWords(tokens: number | null): string {
  return tokens === null ? 'with a request of unknown size' : `with a request of ${grouped(tokens)} tokens`;
}

function unexpected(inputId: string, receipt: WireReceipt | undefined): CliFailure {
  const words = receipt === undefined ? 'missing' : admissionWords(receipt);
  return new CliFailure(exitCodes.internal, 'unexpected', `The prompt ${inputId} is not what it should be: ${words}.`);
}
