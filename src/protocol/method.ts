import type { z } from 'zod';
import type { ErrorReason } from './errors.ts';

/** What a principal may do. `gateway.ready` lists the scopes of a connection. `admin` is for whoever operates the gateway. */
export const scopes = ['read', 'write', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/**
 * How a method relates to the other calls of its connection.
 *
 * `arrival`: it reaches the core in the order in which the calls arrived, after every earlier call of this kind.
 * `any`: it may overtake and be overtaken. Answers of either kind may come in any order.
 */
type Order = 'arrival' | 'any';

/** A method of the protocol: one value, from which dispatch, client types and documents are derived. */
export interface MethodDefinition<
  Name extends string = string,
  Params extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  readonly name: Name;
  /** What it promises, in sentences for the reference page. The first one is its title. */
  readonly summary: string;
  /** The scope that a caller needs, or null when every connection may call it. */
  readonly scope: Scope | null;
  /** Always an object: parameters are given by name. */
  readonly params: Params;
  readonly result: Result;
  /** The refusals that are this method's own. Those of `commonReasons` may come from every method. */
  readonly errors: readonly ErrorReason[];
  readonly order: Order;
}

export function defineMethod<const Name extends string, Params extends z.ZodType, Result extends z.ZodType>(
  definition: MethodDefinition<Name, Params, Result>,
): MethodDefinition<Name, Params, Result> {
  return definition;
}
