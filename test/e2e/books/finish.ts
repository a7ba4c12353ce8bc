import type { BookedPrompt, BookedSession } from './books.ts';
import type { Bookkeeper } from './bookkeeper.ts';
import { expectNothingWaits, respondAgain, settledWithApprovals } from './approvals.ts';
import { promptText, readPromptText } from './prompt-text.ts';

/**
 * What a careful client does after a restart: it asks again for what nobody answered, decides on what was lost, and
 * waits until everything has ended. It may be begun anew at any point.
 */
export async function finish(
  client: Bookkeeper,
  options: { readonly onUnknown?: 'discard' | 'retry' } = {},
): Promise<void> {
  for (const session of client.books.sessions.values()) {
    if (session.deletion !== 'none') {
      await finishDeletion(client, session);
      continue;
    }
    await makeAgain(client, session);
    if (session.title !== null) await client.rename(session, session.title.text);
    for (const prompt of session.prompts.values()) await changeAgain(client, session, prompt);
    await client.follow(session);
    if (session.hold !== 'none') await client.release(session);
    await askAgain(client, session);
    await respondAgain(client, session);
    await drain(client, session, options.onUnknown ?? 'discard');
    for (const requestId of session.compressions.keys()) {
      await client.compress(session, requestId);
      await client.compress(session, requestId);
      await client.submit(session, 'after', promptText(`${session.name}.after`));
      await drain(client, session, 'discard');
    }
    await useToolAgain(client, session);
    for (const prompt of session.prompts.values()) await client.receipt(session, prompt);
    await client.listenUntil(session, await client.lastSeq(session));
  }
}

async function makeAgain(client: Bookkeeper, { name, forkOf }: BookedSession): Promise<void> {
  if (forkOf === null) await client.create(name);
  else await client.fork(client.books.session(forkOf.name), forkOf.messageId, name);
}

/** A deletion is asked for again; known ids keep their receipts, and all else is gone. */
async function finishDeletion(client: Bookkeeper, session: BookedSession): Promise<void> {
  await client.remove(session);
  for (const prompt of session.prompts.values()) {
    await client.receipt(session, prompt);
    const refused = await client.submit(session, prompt.inputId, prompt.text);
    if (refused !== null) throw new Error(`${prompt.inputId} of a deleted session was refused as ${refused.refused}`);
  }
  await client.expectGone(session);
}

/** The tool works again, and its approval does; what was decided before stays. */
async function useToolAgain(client: Bookkeeper, session: BookedSession): Promise<void> {
  if (![...session.prompts.values()].some(usesTool)) return;
  const refused = await client.submit(session, 'after', promptText(`${session.name}.after`, 'append'));
  if (refused !== null) throw new Error(`the prompt after the others was refused as ${refused.refused}`);
  await drain(client, session, 'discard');
  await respondAgain(client, session);
  await expectNothingWaits(client, session);
}

/** An edit and a move that nobody has acknowledged are asked for again; whoever has started meanwhile stays as it is. */
async function changeAgain(client: Bookkeeper, session: BookedSession, prompt: BookedPrompt): Promise<void> {
  if (prompt.admissionId === null) return;
  const { edit, move } = prompt;
  if (edit?.acknowledged === false) await client.edit(session, prompt, edit.text);
  if (move?.acknowledged !== false) return;
  const before = move.before.flatMap((inputId) => session.prompts.get(inputId) ?? []);
  await client.moveFirst(session, prompt, before);
}

/** Every prompt once more: those without a receipt get one, all others the one that they have. */
async function askAgain(client: Bookkeeper, session: BookedSession): Promise<void> {
  for (const prompt of session.prompts.values()) {
    if (prompt.inputId.includes('~')) continue; // made by the gateway: no client may ask for it
    if (prompt.steers !== null) {
      await client.steer(session, prompt.inputId, prompt.text, prompt.steers);
      continue;
    }
    const refused = await client.submit(session, prompt.inputId, prompt.text);
    if (refused !== null) throw new Error(`${session.name}/${prompt.inputId} was refused as ${refused.refused}`);
  }
  const [first] = session.prompts.values();
  if (first !== undefined) await client.contradict(session, first);
}

async function drain(client: Bookkeeper, session: BookedSession, onUnknown: 'discard' | 'retry'): Promise<void> {
  for (;;) {
    const [head] = await client.open(session);
    if (head === undefined) return;
    const { status, inputId } = usesTool(head)
      ? await settledWithApprovals(client, session, head)
      : await client.settled(session, head);
    // One retry is enough: its own loss is not to lead to another.
    if (status === 'unknown') await client.resolve(session, head, inputId.includes('~') ? 'discard' : onUnknown);
  }
}

function usesTool({ text }: BookedPrompt): boolean {
  return readPromptText(text)?.wish === 'append';
}
