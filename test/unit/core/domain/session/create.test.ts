import { describe, expect, test } from 'vitest';
import type { CommandKind, SessionCommand } from '../../../../../src/core/domain/session/commands.ts';
import { aDraft, aProfile, aSessionId } from '../../../../support/builders.ts';
import * as commands from '../../../../support/commands.ts';
import { given, whenNothingExists } from '../../../../support/given.ts';
import { created } from '../../../../support/history.ts';

describe('creating a session', () => {
  test('makes an empty one whose lineage begins with its own id', () => {
    const profile = aProfile({ title: 'A title', systemPrompt: 'Be kind.', systemPromptTokens: 3 });

    const when = whenNothingExists({ kind: 'create', profile });

    when.then({ type: 'session.created', profile, admissionId: null, executionGeneration: null }).thenAnswers(null);
    expect(when.after).toEqual({
      sessionId: aSessionId,
      seq: 1,
      profile,
      revision: 1,
      archived: false,
      pinned: false,
      deletedAt: null,
      executionGeneration: 0,
      hold: null,
      lineage: {
        rootId: aSessionId,
        tipId: aSessionId,
        parentId: null,
        length: 1,
        compressions: 0,
        open: null,
        breaker: { failures: 0, openUntil: null, reason: null, recent: [] },
      },
      messages: [],
      usageAnchor: null,
      answeredBy: null,
      runningCalls: [],
      approvals: [],
      open: [],
    });
  });

  test('is refused where there is one already', () => {
    given(created())
      .when({ kind: 'create', profile: aProfile() })
      .thenRefused({ reason: 'request_conflict', sessionId: aSessionId });
  });
});

describe('a session that does not exist', () => {
  const each: { readonly [K in Exclude<CommandKind, 'create'>]: SessionCommand } = {
    submit: commands.submit(1),
    steer: commands.steer(1),
    merge_steers: commands.mergeSteers(1),
    receipt: commands.receipt(1),
    cancel: commands.cancel(1),
    interrupt: commands.interrupt(1),
    resolve_unknown: commands.resolveUnknown(1),
    hold: commands.hold(),
    release: commands.release,
    update: commands.update({ title: 'Trip' }),
    delete: commands.remove,
    edit: commands.edit(1),
    move: commands.move(1),
    claim: commands.claim(1, aDraft()),
    dispatch: commands.dispatch(1),
    append: commands.append(),
    finish_call: commands.finishCall(),
    respond_approval: commands.respondApproval(),
    expire_approval: { kind: 'expire_approval', approvalId: 'approval-1' },
    settle: commands.settle(),
    start_compression: commands.startCompression(),
    compress_by_hand: commands.compressByHand(),
    learn_window: commands.learnWindow(),
    rotate: commands.rotate(),
    fail_compression: commands.failCompression(),
    recover: commands.recover(),
  };

  test.each(Object.values(each))('refuses $kind', (command) => {
    whenNothingExists(command).thenRefused({ reason: 'not_found', what: 'session' });
  });
});
