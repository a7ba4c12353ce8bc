import { nextApproval } from '../books/approvals.ts';
import { allEnded, ask, askForTool, commit, newSession } from './acts.ts';
import type { Scenario } from './acts.ts';

const callPoints = ['tool.before_call', 'tool.after_call', ...commit('finish_call')];

/** Turns that use a tool, with and without an approval. */
export const toolScenarios: readonly Scenario[] = [
  {
    name: 'a tool call',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'always' },
    points: [...commit('append'), ...callPoints, 'model.before_send@2'],
    bugs: ['tool.before_call', 'finish_call.before_commit', 'finish_call.after_commit'],
    act: (act) => askForTool(act, null),
  },
  {
    name: 'a tool call whose turn is tried again',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'always' },
    onUnknown: 'retry',
    points: ['tool.before_call', 'tool.after_call', 'finish_call.after_commit'],
    act: (act) => askForTool(act, null),
  },
  {
    name: 'an approval that is given',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'ask' },
    points: [...commit('append'), ...commit('respond_approval'), ...callPoints],
    bugs: ['respond_approval.before_commit', 'respond_approval.after_commit'],
    act: (act) => askForTool(act, 'approve'),
  },
  {
    name: 'an approval that is refused',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'ask' },
    points: [...commit('respond_approval'), 'model.before_send@2'],
    act: (act) => askForTool(act, 'deny'),
  },
  {
    name: 'an approval whose turn is tried again',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'ask' },
    onUnknown: 'retry',
    points: ['append.after_publish', 'respond_approval.before_commit', 'respond_approval.after_commit'],
    act: (act) => askForTool(act, 'approve'),
  },
  {
    name: 'an approval that expires',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'ask', expirySeconds: 1 },
    points: [...commit('expire_approval'), 'model.before_send@2'],
    bugs: ['expire_approval.after_commit'],
    act: async ({ client, unlessDead }) => {
      const session = await newSession(client);
      await ask(client, session, 'p1', 'append');
      await ask(client, session, 'p2');
      await unlessDead(nextApproval(client, session));
      await allEnded(client, session);
    },
  },
  {
    name: 'a stop while a call waits',
    from: 'nothing',
    compresses: false,
    tool: { approval: 'ask' },
    points: [...commit('interrupt'), 'settle.before_commit', 'settle.after_commit'],
    act: async ({ client, unlessDead }) => {
      const session = await newSession(client);
      const first = await ask(client, session, 'p1', 'append');
      await ask(client, session, 'p2');
      await unlessDead(nextApproval(client, session));
      await client.interrupt(session, first);
      await allEnded(client, session);
    },
  },
];
