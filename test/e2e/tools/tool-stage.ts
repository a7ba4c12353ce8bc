import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { connect, Daemon, TestHome } from '../../support/daemon.ts';
import { textAnswer, toolCallAnswer } from '../../support/loopback-model/answers.ts';
import { assertValidChatRequest } from '../../support/loopback-model/assert-valid-chat-request.ts';
import { LoopbackModel } from '../../support/loopback-model/loopback-model.ts';
import type { ChatMessage } from '../../support/loopback-model/loopback-model.ts';
import type { RawClient } from '../../support/raw-client.ts';

export interface WireReceipt {
  readonly admission_id: string;
  readonly status: string;
  readonly outcome: string | null;
  readonly execution_generation: number | null;
  readonly evidence?: { readonly boundary: string; readonly open_tool_calls: readonly string[] };
}

export function ownServer(name: string): string {
  return fileURLToPath(new URL(`../../support/mcp/servers/${name}.mjs`, import.meta.url));
}

/** A prompt that makes the model call tools: `call`, then names and arguments as JSON. Every other one gets a text. */
export function calling(...calls: readonly (readonly [name: string, args: unknown])[]): string {
  return `call ${JSON.stringify(calls)}`;
}

/** A daemon with MCP servers, and a model that calls the tools that its prompts name. */
export class ToolStage {
  readonly home: TestHome;
  readonly model: LoopbackModel;
  #daemon: Daemon | null = null;
  #client: RawClient | null = null;

  private constructor(home: TestHome, model: LoopbackModel) {
    this.home = home;
    this.model = model;
  }

  static async begin(
    configure: (stage: { journal: string }) => Record<string, unknown> = () => ({}),
  ): Promise<ToolStage> {
    let calls = 0;
    const model = await LoopbackModel.start({
      answer: (call) => {
        const asked = callsOf(call.request.body?.messages.at(-1));
        if (asked === null) return textAnswer('ok')(call);
        calls += 1;
        const named = asked.map(([name, args], index) => ({ id: `call_${calls}_${index}`, name, arguments: args }));
        return toolCallAnswer(named)(call);
      },
    });
    const stage = new ToolStage(new TestHome({}), model);
    stage.configure(configure({ journal: stage.journal }));
    return stage;
  }

  configure(more: Record<string, unknown> = {}): void {
    const journal = {
      command: process.execPath,
      args: [ownServer('appends-lines')],
      env: { JOURNAL: this.journal },
    };
    this.home.configure({
      model: { provider: 'custom', default: 'loopback', base_url: this.model.url, context_length: 8_000_000 },
      mcp_servers: { journal },
      toolsets: { all: ['journal'] },
      ...more,
    });
  }

  /** The file to which the journal's tools append. */
  get journal(): string {
    return join(this.home.path, 'journal.txt');
  }

  get lines(): readonly string[] {
    return existsSync(this.journal) ? readFileSync(this.journal, 'utf8').split('\n').slice(0, -1) : [];
  }

  async start(environment: Readonly<Record<string, string>> = {}): Promise<this> {
    this.#daemon = await Daemon.start(this.home, environment);
    this.#client = await connect(this.home);
    return this;
  }

  get daemon(): Daemon {
    if (this.#daemon === null) throw new Error('the daemon was not started');
    return this.#daemon;
  }

  get client(): RawClient {
    if (this.#client === null) throw new Error('the daemon was not started');
    return this.#client;
  }

  async create(toolsets: readonly string[] = ['all']): Promise<string> {
    return (await this.client.call<{ session_id: string }>('session.create', { toolsets })).session_id;
  }

  submit(sessionId: string, inputId: string, text: string): Promise<WireReceipt> {
    return this.client.call('prompt.submit', { session_id: sessionId, input_id: inputId, text });
  }

  /** The receipt once it is settled or unknown. */
  ended(sessionId: string, inputId: string): Promise<WireReceipt> {
    return this.client.call('prompt.wait', { session_id: sessionId, input_id: inputId, timeout_ms: 60_000 });
  }

  async turn(sessionId: string, inputId: string, text: string): Promise<WireReceipt> {
    await this.submit(sessionId, inputId, text);
    return this.ended(sessionId, inputId);
  }

  receipt(sessionId: string, inputId: string): Promise<WireReceipt> {
    return this.client.call('prompt.receipt', { session_id: sessionId, input_id: inputId });
  }

  /** The texts of the results in the last request to the model. */
  get lastResults(): readonly unknown[] {
    const messages = this.model.chats.at(-1)?.messages ?? [];
    return messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  }

  /** Rows of the store, as an operator reads them. */
  rows<T>(sql: string): readonly T[] {
    const db = new Database(this.home.database, { readonly: true });
    try {
      return db.prepare<[], T>(sql).all();
    } finally {
      db.close();
    }
  }

  expectValidRequests(): void {
    for (const { messages } of this.model.chats) assertValidChatRequest(messages);
  }

  /** Resolves when the file has a line. */
  async noted(line: string): Promise<void> {
    const deadline = Date.now() + 30_000;
    while (!this.lines.includes(line)) {
      if (Date.now() > deadline) throw new Error(`nobody wrote ${line}:\n${this.daemon.output}`);
      await new Promise((resolve) => setTimeout(resolve, 10)); // another process writes the file
    }
  }

  async end(): Promise<void> {
    this.#client?.close();
    await this.#daemon?.kill('SIGKILL');
    await this.model.close();
    this.home.remove();
  }
}

function callsOf(message: ChatMessage | undefined): readonly (readonly [string, string])[] | null {
  if (message?.role !== 'user' || typeof message.content !== 'string' || !message.content.startsWith('call '))
    return null;
  const calls = JSON.parse(message.content.slice(5)) as [string, unknown][]; // what `calling` has written
  return calls.map(([name, args]) => [name, JSON.stringify(args)]);
}
