import type { Config } from '../config/schema.ts';
import type { SessionProfile } from '../core/domain/session/state.ts';
import type { CreateSessionInput } from '../core/use-cases/create-session.ts';

/**
 * The toolsets of a new session, those that it names or those of its source, and the tools that they stand for at this
 * moment: a later edit of the configuration doesn't change a session.
 */
export function makeToolsFor({
  toolsets,
  platform_toolsets: bySource,
}: Config): (input: CreateSessionInput) => Pick<SessionProfile, 'toolsets' | 'tools'> {
  return ({ toolsets: named, source }) => {
    const chosen = named ?? bySource[source] ?? [];
    return { toolsets: chosen, tools: [...new Set(chosen.flatMap((name) => toolsets[name] ?? []))] };
  };
}
