/** A tool that a session may use, as a model is told of it. */
export interface ToolDescriptor {
  /** Unique among a session's tools and legal for every provider: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The server that has it, or `builtin`. */
  readonly server: string;
  /** The name that its server knows it by. */
  readonly serverTool: string;
}

export interface ToolCallRequest {
  readonly callId: string;
  readonly sessionId: string;
  readonly tool: ToolDescriptor;
  /** Parsed and known to be an object; whether it fits the schema is the server's judgement. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type ToolOutcome =
  /** The tool answered, perhaps with an error of its own that the model should read. */
  | { readonly kind: 'answered'; readonly text: string; readonly isError: boolean }
  /** The call came to no answer: whether it had an effect is unknown unless `notStarted` is true. */
  | {
      readonly kind: 'broken';
      readonly reason: 'timeout' | 'unavailable' | 'aborted' | 'unknown_tool' | 'output_too_large';
      readonly message: string;
      readonly notStarted: boolean;
    };

export interface ToolServerHealth {
  readonly server: string;
  readonly state: 'idle' | 'starting' | 'ready' | 'backing_off' | 'failed';
  readonly tools: number | null;
  readonly restarts: number;
  readonly lastError: string | null;
}

/**
 * Runs tools. It never runs a call twice and never retries one by itself.
 *
 * When `signal` aborts, the server is told and its child processes are stopped if it doesn't obey in time; the promise
 * resolves soon after with `aborted`. What a server does wrong is an outcome and never an exception.
 */
export interface ToolHost {
  /**
   * The tools that a selection names. An entry is `server` (all its tools), `server.tool`, or `builtin.tool`. Servers
   * are started when they are first needed; one that can't be reached contributes nothing and shows in `health`.
   */
  list(selection: readonly string[], signal: AbortSignal): Promise<readonly ToolDescriptor[]>;

  call(request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome>;

  health(): readonly ToolServerHealth[];

  /** Stops every server and its children. */
  close(): Promise<void>;
}
