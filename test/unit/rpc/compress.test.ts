import { describe, expect, test } from 'vitest';
import { textAnswer } from '../../../src/adapters/outbound/memory/scripted-model.ts';
import { FakePeer } from '../../support/fake-peer.ts';
import { rpcDependencies } from '../../support/rpc-dependencies.ts';
import { aModel, textOf, underPressure } from '../core/use-cases/pressure.ts';

/** Compresses a session whose summaries are all longer than what they stand for. */
async function uselessSummaries() {
  const model = aModel(() => textAnswer(textOf(900, 'summary')));
  const { gateway, sessionId: session_id } = await underPressure({ model });
  const peer = FakePeer.connect(rpcDependencies(gateway));
  return async (params: object): Promise<Record<string, unknown> | undefined> =>
    (await peer.request('session.compress', { session_id, keep_last: 2, ...params })).error?.data;
}

describe('session.compress that comes to nothing', () => {
  test('says why under a stable name, and that another call may do better', async () => {
    const compress = await uselessSummaries();

    expect(await compress({})).toMatchObject({
      reason: 'compression_failed',
      retryable: true,
      failure: { reason: 'compression_failed', message: expect.any(String) as string, retryable: true },
    });
  });

  test('is not to be tried again under the request id that answers the same for ever', async () => {
    const compress = await uselessSummaries();

    const first = await compress({ request_id: 'r' });
    const again = await compress({ request_id: 'r' });

    expect(first).toMatchObject({ reason: 'compression_failed', retryable: false, failure: { retryable: true } });
    expect(again).toEqual(first);
  });
});
