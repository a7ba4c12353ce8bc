import type {
  ToolCallRequest,
  ToolDescriptor,
  ToolHost,
  ToolOutcome,
  ToolServerHealth,
} from '../../../core/ports/tool-host.ts';

/** Answers one call; it may wait for as long as it likes, and should resolve soon when the signal aborts. */
export type ToolScript = (request: ToolCallRequest, signal: AbortSignal) => Promise<ToolOutcome> | ToolOutcome;

/** Tools that are plain functions, for tests, the simulator and gateways without any tool. It records every call. */
export class ScriptedTools implements ToolHost {
  readonly calls: ToolCallRequest[] = [];
  readonly #scripts: ReadonlyMap<string, ToolScript>;

  constructor(scripts: Readonly<Record<string, ToolScript>> = {}) {
    this.#scripts = new Map(Object.entries(scripts));
  }

  list(selection: readonly string[]): Promise<readonly ToolDescriptor[]> {
    const names = [...this.#scripts.keys()].filter((name) => selection.includes(`scripted.${name}`));
    return Promise.resolve(names.map(descriptorOf));
  }

  async call(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    this.calls.push(request);
    const script = this.#scripts.get(request.tool.serverTool);
    if (script !== undefined) return script(request, signal);
    return { kind: 'broken', reason: 'unknown_tool', message: 'There is no such tool.', notStarted: true };
  }

  health(): readonly ToolServerHealth[] {
    return [];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function descriptorOf(name: string): ToolDescriptor {
  return {
    name: `scripted__${name}`,
    description: `The scripted tool ${name}.`,
    parameters: { type: 'object', properties: {}, additionalProperties: true },
    server: 'scripted',
    serverTool: name,
  };
}
