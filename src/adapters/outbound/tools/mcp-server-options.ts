/** One configured MCP server. The values in `env` and `headers`, and what follows `?` in `url`, are secrets. */
export interface McpServerOptions {
  /** Letters, digits, `-`, `_`, `.`; unique, and not `builtin`. */
  readonly name: string;
  readonly transport: StdioServer | HttpServer;
  /** The longest time for one call. */
  readonly timeoutMs: number;
  /** The most bytes of a call's text; more is cut. */
  readonly maxOutputBytes: number;
  /** The longest time for a start: process, handshake and list of tools. */
  readonly startupTimeoutMs: number;
}

export interface StdioServer {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Nothing else of our environment reaches the server, but what the host lets all of them inherit. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: that of this process. */
  readonly cwd?: string;
}

export interface HttpServer {
  readonly kind: 'http';
  readonly url: string;
  /** Sent with each request, and to no other origin. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What must not be seen in a text that comes from the server or from a library. */
export function secretsOf({ transport }: McpServerOptions): readonly string[] {
  if (transport.kind === 'stdio') return Object.values(transport.env);
  const { searchParams, username, password } = new URL(transport.url);
  return [...Object.values(transport.headers), ...searchParams.values(), username, password];
}
