import type { PlantedBug } from '../planted-bug.ts';

/** Faults of the journal of tool calls and of approvals. */
export const toolsBugs: readonly PlantedBug[] = [
  {
    name: 'tool-started-before-its-intent',
    within: 500,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/tool-step.ts',
        from: `  const appended = await deps.sessions.send(sessionId, {
    kind: 'append',`,
        to: `  const appended: Sent<null> = { kind: 'done', reply: null };
  void deps.sessions.send(sessionId, {
    kind: 'append',`,
      },
    ],
  },
  {
    name: 'broken-call-made-again',
    within: 500,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/tool-step.ts',
        from: `await deps.tools.call(request, signal).catch(brokenHost);`,
        to: `await deps.tools.call(request, signal).catch(() => deps.tools.call(request, signal)).catch(brokenHost);`,
      },
    ],
  },
  {
    name: 'call-made-before-its-approval',
    within: 300,
    breaks: ['P4'],
    patches: [
      {
        file: 'core/use-cases/tool-step.ts',
        from: `(await each.decision) === 'approved'`,
        to: `(await Promise.resolve('approved')) === 'approved'`,
      },
    ],
  },
  {
    name: 'approval-without-the-intent',
    within: 300,
    seed: 5,
    breaks: ['P4', 'bug'],
    patches: [
      {
        file: 'core/domain/approval/resolve-approval.ts',
        from: `? [admissionEvent(turn, { type: 'tool.started', callId, name })]`,
        to: `? []`,
      },
    ],
  },
  {
    name: 'second-answer-acknowledged',
    within: 500,
    breaks: ['P1'],
    patches: [
      {
        file: 'core/use-cases/respond-approval.ts',
        from: `if (resolution.by === by && resolution.decision === decision) {`,
        to: `if (resolution.by !== 'gateway') {`,
      },
    ],
  },
  {
    name: 'approval-outlives-its-stop',
    within: 500,
    breaks: ['P4', 'P5', 'bug'],
    patches: [
      {
        file: 'core/domain/turn/interrupt.ts',
        from: `    ...closedApprovals(state, turn, { reason: 'stop_requested', by }, context),`,
        to: '',
      },
      {
        file: 'core/domain/turn/settle.ts',
        from: `return accepted([...messages, ...approvals, ...steers, settled, ...held], () => ({ outcome }));`,
        to: `return accepted([...messages, ...steers, settled, ...held], () => ({ outcome }));`,
      },
    ],
  },
];
