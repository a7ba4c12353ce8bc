import type { BookedSession } from './books.ts';
import type { Bookkeeper } from './bookkeeper.ts';

/**
 * What a careful client does after a restart: it asks again for what nobody answered, decides on what was lost, and
 * waits until everything has ended. It may be begun anew at any point.
 */
export async function finish(
  client: Bookkeeper,
  options: { readonly onUnknown?: 'discard' | 'retry' } = {},
): Promise<void> {
  for (const session of client.books.sessions.values()) {
    await client.create(session.name);
    await client.follow(session);
    if (session.hold !== 'none') await client.release(session);
    await askAgain(client, session);
    await drain(client, session, options.onUnknown ?? 'discard');
    for (const prompt of session.prompts.values()) await client.receipt(session, prompt);
    await client.listenUntil(session, await client.lastSeq(session));
  }
}

/** Every prompt once more: those without a receipt get one, all others the one that they have. */
async function askAgain(client: Bookkeeper, session: BookedSession): Promise<void> {
  for (const prompt of session.prompts.values()) {
    if (prompt.inputId.includes('~')) continue; // made by the gateway: no client may ask for it
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
    const { status, inputId } = await client.settled(session, head);
    // One retry is enough: its own loss is not to lead to another.
    if (status === 'unknown') await client.resolve(session, head, inputId.includes('~') ? 'discard' : onUnknown);
  }
}
