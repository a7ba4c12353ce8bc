import type { ToolCallRequest, ToolDescriptor, ToolOutcome } from '../../../core/ports/tool-host.ts';

/** The name by which selections and descriptors know the tools that need no server. */
export const builtinServer = 'builtin';

/** A tool that the gateway has by itself. */
export interface BuiltinTool {
  readonly descriptor: ToolDescriptor;
  run(
    args: Readonly<Record<string, unknown>>,
    call: Pick<ToolCallRequest, 'sessionId'>,
  ): ToolOutcome | Promise<ToolOutcome>;
}
