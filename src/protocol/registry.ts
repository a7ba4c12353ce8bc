import type { z } from 'zod';
import { gatewayBackup, gatewayStatus, ping, rpcDiscover } from './gateway.ts';
import { approvalList, approvalRespond } from './approval.ts';
import {
  sessionContent,
  sessionExport,
  sessionFork,
  sessionHistory,
  sessionLineage,
  sessionSearch,
} from './history.ts';
import type { MethodDefinition } from './method.ts';
import { modelList } from './model.ts';
import {
  promptCancel,
  promptEdit,
  promptList,
  promptMove,
  promptReceipt,
  promptResolveUnknown,
  promptSubmit,
  promptWait,
} from './prompt.ts';
import {
  sessionCompress,
  sessionCreate,
  sessionEvents,
  sessionGet,
  sessionHold,
  sessionInterrupt,
  sessionList,
  sessionRelease,
  sessionResume,
  sessionSteer,
  sessionSubscribe,
  sessionUnsubscribe,
} from './session.ts';
import { sessionDelete, sessionUpdate } from './session-life.ts';
import { toolList } from './tool.ts';

/** Every method of the protocol, in the order of the reference page. */
export const methods = [
  sessionCreate,
  sessionResume,
  sessionGet,
  sessionList,
  sessionHistory,
  sessionContent,
  sessionLineage,
  sessionSearch,
  sessionFork,
  sessionExport,
  sessionUpdate,
  sessionDelete,
  sessionInterrupt,
  sessionSteer,
  sessionCompress,
  sessionHold,
  sessionRelease,
  sessionSubscribe,
  sessionUnsubscribe,
  sessionEvents,
  promptSubmit,
  promptReceipt,
  promptList,
  promptCancel,
  promptEdit,
  promptMove,
  promptResolveUnknown,
  promptWait,
  approvalRespond,
  approvalList,
  modelList,
  toolList,
  gatewayStatus,
  gatewayBackup,
  ping,
  rpcDiscover,
] as const;

type Method = (typeof methods)[number];
type MethodOf<N extends MethodName> = Extract<Method, { name: N }>;

export type MethodName = Method['name'];
/** The parameters as a client writes them: what has a default may be left out. */
export type ParamsOf<N extends MethodName> = z.input<MethodOf<N>['params']>;
/** The parameters as a handler gets them. */
export type ParsedParamsOf<N extends MethodName> = z.output<MethodOf<N>['params']>;
export type ResultOf<N extends MethodName> = z.output<MethodOf<N>['result']>;

const byName: ReadonlyMap<string, MethodDefinition<MethodName>> = new Map(
  methods.map((method) => [method.name, method]),
);

export function findMethod(name: string): MethodDefinition<MethodName> | undefined {
  return byName.get(name);
}
