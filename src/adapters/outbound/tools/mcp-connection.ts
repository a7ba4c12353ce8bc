import { Client, ProtocolError, SdkError, SdkHttpError, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { Clock } from '../../../core/ports/clock.ts';
import { ConnectionError, type CallAnswer, type Connection } from './connection.ts';
import { HttpTransport } from './http-transport.ts';
import { readToolPage, type ListedTool } from './listed-tools.ts';
import type { McpServerOptions } from './mcp-server-options.ts';
import type { ServerLog } from './server-log.ts';
import { ProcessStartError } from './server-process.ts';
import { StdioTransport } from './stdio-transport.ts';
import { answerLostCode, answerTooLargeCode } from './substitute-answers.ts';
import { ToolListing } from './tool-listing.ts';

export interface ConnectionDependencies {
  readonly clock: Clock;
  readonly log: ServerLog;
  /** Takes the server's secrets out of its error messages. */
  readonly mask: (text: string) => string;
  /** What every stdio server gets of our environment. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  readonly clientVersion: string;
}

/** The SDK's timers can't be turned off, and time belongs to the clock port: this is the longest that they take. */
const never = 2 ** 31 - 1;
const maxPages = 100;
/** Beside the text there are escapes, structured content and images in a message. */
const messageBytesFor = (maxOutputBytes: number): number => 2 * maxOutputBytes + 1_048_576;

/** Starts a server and shakes hands with it. This file loads the SDK, which takes long: import it when it is needed. */
export async function openConnection(
  options: McpServerOptions,
  dependencies: ConnectionDependencies,
  signal: AbortSignal,
): Promise<Connection> {
  const connection = new McpConnection(options, dependencies);
  try {
    await connection.open(signal);
    return connection;
  } catch (error) {
    await connection.stop('now');
    throw error;
  }
}

class McpConnection implements Connection {
  readonly closed: Promise<string>;
  readonly #client: Client;
  readonly #transport: StdioTransport | HttpTransport;
  readonly #listing: ToolListing;
  readonly #log: ServerLog;
  readonly #mask: (text: string) => string;
  #isClosed = false;

  constructor(options: McpServerOptions, dependencies: ConnectionDependencies) {
    const { clock, log, mask, clientVersion } = dependencies;
    this.#log = log;
    this.#mask = mask;
    this.#client = new Client({ name: 'holdfast', version: clientVersion }, { capabilities: {} });
    this.#transport = makeTransport(options, dependencies);
    this.#listing = new ToolListing((signal) => this.#fetchTools(signal), {
      timeoutMs: options.startupTimeoutMs,
      clock,
    });
    this.#client.onerror = (error) => log.oddity(error.message);
    this.#client.setNotificationHandler('notifications/tools/list_changed', () => this.#listing.markChanged());
    this.closed = new Promise((resolve) => {
      this.#client.onclose = () => {
        this.#isClosed = true;
        resolve(this.#endOfTransport());
      };
    });
  }

  async open(signal: AbortSignal): Promise<void> {
    try {
      await this.#client.connect(this.#transport, { signal, timeout: never });
      await this.#listing.fill(signal);
    } catch (error) {
      if (signal.aborted && signal.reason instanceof ConnectionError) throw signal.reason;
      throw new ConnectionError(this.#describe(error), { cause: error });
    }
  }

  get toolCount(): number {
    return this.#listing.count;
  }

  tools(): Promise<readonly ListedTool[]> {
    return this.#listing.tools();
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallAnswer> {
    if (this.#isClosed) return { kind: 'lost', why: this.#endOfTransport(), notStarted: true, broken: true };
    try {
      const params = { name: tool, arguments: { ...args } };
      // The SDK's `callTool` would turn down a result that doesn't keep to the schema of its tool, after it has run.
      const result = await this.#client.request({ method: 'tools/call', params }, anything, { signal, timeout: never });
      return { kind: 'result', result };
    } catch (error) {
      return this.#answerFor(error);
    }
  }

  heedsCancels(ms: number): Promise<boolean> {
    return this.#transport.heedsCancels(ms);
  }

  async stop(manner: 'politely' | 'now'): Promise<void> {
    await this.#transport.stop(manner);
  }

  async #fetchTools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    const tools = new Map<string, ListedTool>();
    let cursor: string | null = null;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const params = cursor === null ? {} : { cursor };
      const page = readToolPage(
        await this.#client.request({ method: 'tools/list', params }, anything, { signal, timeout: never }),
      );
      // Of two tools with one name a call could only reach one.
      for (const tool of page.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
      if (page.nextCursor === null || page.nextCursor === cursor) break;
      cursor = page.nextCursor;
    }
    return [...tools.values()];
  }

  #answerFor(error: unknown): CallAnswer {
    if (error instanceof ProtocolError) {
      if (error.code === answerTooLargeCode) return { kind: 'too_large' };
      if (error.code === answerLostCode) return { kind: 'lost', why: error.message, notStarted: false, broken: true };
      return { kind: 'refused', code: error.code, message: this.#mask(error.message) };
    }
    const why = this.#describe(error);
    // With such a status the server has refused the request itself; a forgotten session is the usual reason.
    if (error instanceof SdkHttpError) {
      const turnedDown = error.status >= 400 && error.status < 500;
      return { kind: 'lost', why, notStarted: turnedDown, broken: !turnedDown };
    }
    return { kind: 'lost', why, notStarted: unreachable.has(networkCodeOf(error) ?? ''), broken: true };
  }

  /** Only words of our own: a library's message may quote what the server said, an address or a header. */
  #describe(error: unknown): string {
    if (error instanceof Error) this.#log.oddity(error.message);
    const networkCode = networkCodeOf(error);
    if (error instanceof ProcessStartError) return error.message;
    if (error instanceof SdkHttpError) return `it answered with HTTP ${error.status}`;
    if (error instanceof ProtocolError) return `it answered with the JSON-RPC error ${error.code}`;
    if (networkCode !== null && unreachable.has(networkCode)) return `it can't be reached (${networkCode})`;
    if (networkCode !== null) return `the connection to it broke (${networkCode})`;
    return this.#isClosed ? this.#endOfTransport() : 'it does not keep to the protocol';
  }

  #endOfTransport(): string {
    const ended = this.#transport instanceof StdioTransport ? this.#transport.ended : null;
    return ended ?? 'the connection was closed';
  }
}

function makeTransport(
  options: McpServerOptions,
  dependencies: ConnectionDependencies,
): StdioTransport | HttpTransport {
  const { clock, log, inheritedEnv } = dependencies;
  const { transport } = options;
  const maxMessageBytes = messageBytesFor(options.maxOutputBytes);
  if (transport.kind === 'http') return new HttpTransport(transport, maxMessageBytes, clock);
  const command = { ...transport, env: { ...inheritedEnv, ...transport.env } };
  return new StdioTransport(command, maxMessageBytes, clock, log);
}

/** Takes every result as it is: what we need of it is read with care later. */
const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'holdfast', validate: (value) => ({ value }) },
};

/** With these, nothing of a request has arrived anywhere. */
const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** `fetch` fails with a TypeError whose cause has the code. The SDK's own errors have codes too, of another kind. */
function networkCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof SdkError) return null;
  const found = [error, error.cause].find((one) => one instanceof Error && 'code' in one);
  const code = found instanceof Error && 'code' in found ? found.code : null;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? code : null;
}
