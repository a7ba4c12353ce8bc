import type { Command } from '../history/commands.ts';
import type { JudgedReader } from '../judge/stream-judge.ts';
import type { AdmissionRow } from '../judge/rows.ts';
import { Connection } from './connection.ts';
import { changesOfPlace, editRequest, forkRequest, moveRequest, updateRequest } from './life-requests.ts';
import { promptOf } from './prompt-of.ts';
import { labelOf } from './request-label.ts';
import type { FrontDesk, Listener, Request } from './front-desk.ts';
import type { GatewayProcess } from './gateway-process.ts';
import type { Site } from './site.ts';

type ClientCommand = Extract<Command, { client: number }>;
/** The commands that become a request about a session whose id is known. */
type SessionCommand = Exclude<
  ClientCommand,
  { do: 'create' | 'submit' | 'steer' | 'move' | 'delete' | 'disconnect' | 'status' }
>;

/**
 * Somebody who uses the gateway over up to two connections: submits, asks again when an answer was lost, listens from
 * its own place on, and knows what it has seen.
 */
export class Client {
  readonly name: string;
  readonly principalId: string;
  readonly #site: Site;
  readonly #desk: FrontDesk;
  readonly #connections = new Map<number, Connection>();
  /** By session id. A later subscription replaces an earlier one. */
  readonly #readers = new Map<string, { readonly reader: JudgedReader; subscription: number }>();
  /** Requests without an answer, which are to be sent again. */
  readonly #unanswered = new Map<string, Request>();

  constructor(site: Site, desk: FrontDesk, index: number) {
    this.#site = site;
    this.#desk = desk;
    this.name = `c${index}`;
    this.principalId = index === 2 ? 'guest' : 'local';
    site.onEnd((process) => this.#lose(process));
    site.onReady((process) => this.#retryAt(process));
  }

  get connected(): boolean {
    return [...this.#connections.values()].some(({ open }) => open);
  }

  perform(command: ClientCommand): void {
    if (command.do === 'disconnect') {
      this.#connections.get(command.connection)?.close();
      return;
    }
    const connection = 'connection' in command ? command.connection : 0;
    if (command.do === 'status') {
      this.#ask(connection, { do: 'status' });
      return;
    }
    const sessionId = this.#sessionIdOf(command.session);
    if (command.do === 'create' || sessionId === null) {
      if (command.session >= this.#site.settings.sessions) return; // a fork that nobody has made
      this.#ask(connection, this.#createRequest(command.session, command.do === 'create' ? command.variant : 0));
      return;
    }
    if (command.do === 'submit') this.#submit(command, sessionId);
    else if (command.do === 'steer') this.#steer(command, sessionId);
    else if (command.do === 'delete') this.#delete(command, sessionId);
    else if (command.do === 'move') this.#move(command, sessionId);
    else {
      const request = this.#requestOf(command, sessionId);
      if (request === null) return;
      if (command.do === 'edit' || command.do === 'fork') this.#askUntilAnswered(connection, request);
      else this.#ask(connection, request);
      if ('twice' in command && command.twice) this.#ask(1 - connection, request);
    }
  }

  /** Subscribes from its own place on. */
  follow(sessionId: string, connection: number): void {
    this.#ask(connection, this.#followRequest(sessionId, connection));
  }

  /** Sends everything again that has no answer, and listens again to what it listened to. */
  comeBack(): void {
    this.#retry();
    for (const sessionId of this.#readers.keys()) this.follow(sessionId, 0);
  }

  /** Lifts what blocks a session: as an operator who has to decide. */
  unblock(sessionId: string): void {
    const to = this.#to(sessionId);
    const unknown = [...this.#site.view.admissions(sessionId).values()].find(({ status }) => status === 'unknown');
    if (unknown !== undefined) {
      const { admissionId, executionGeneration } = unknown;
      this.#ask(0, {
        do: 'resolve',
        ...to,
        admissionId,
        executionGeneration: executionGeneration ?? 0,
        action: 'discard',
      });
    }
    if (this.#site.view.session(sessionId)?.held === true) this.#ask(0, { do: 'release', ...to });
  }

  judgeAtRest(): void {
    for (const { reader } of this.#readers.values()) reader.atRest();
  }

  hangUp(): void {
    for (const connection of this.#connections.values()) connection.close();
  }

  #submit(command: ClientCommand & { do: 'submit' }, sessionId: string): void {
    const { key, variant, connection, twice, byTip, vanishes } = command;
    const name = `Prompt ${key} by ${this.principalId}`;
    const text = promptOf(this.#site.settings, name, key, variant === 0 ? '' : 'changed');
    const to = this.#to(sessionId);
    const address = byTip ? (this.#site.view.session(sessionId)?.tipId ?? sessionId) : sessionId;
    const request: Request = { do: 'submit', ...to, address, inputId: `k${key}`, text };
    if (vanishes) this.#ask(connection, request);
    else this.#askUntilAnswered(connection, request);
    if (twice) this.#ask(1 - connection, request);
    if (vanishes) this.#connections.get(connection)?.close();
  }

  /** Whoever means to hit a turn waits a little for one. Keys repeat, so that an id may be sent again for another turn: that is a conflict. */
  #steer(command: ClientCommand & { do: 'steer' }, sessionId: string, patience = 8): void {
    const { key, ifOver, offset, connection, twice } = command;
    const runs = [...this.#site.view.admissions(sessionId).values()].some(({ status }) => status === 'started');
    if (!runs && offset === 0 && patience > 0) {
      this.#site.world.add(null, `${this.name} waits to steer`, () => this.#steer(command, sessionId, patience - 1));
      return;
    }
    const executionGeneration = (this.#site.view.session(sessionId)?.executionGeneration ?? 0) + offset;
    const text = `Steer ${key} by ${this.principalId}.`;
    const to = this.#to(sessionId);
    const request: Request = { do: 'steer', ...to, inputId: `s${key}`, text, executionGeneration, ifOver };
    this.#askUntilAnswered(connection, request);
    if (twice) this.#ask(1 - connection, request);
  }

  /** Somebody who tidies up waits until everything has ended. */
  #delete(command: ClientCommand & { do: 'delete' }, sessionId: string, patience = command.patience): void {
    const isOpen = [...this.#site.view.admissions(sessionId).values()].some(({ status }) => status !== 'terminal');
    if (isOpen && patience > 0) {
      this.#site.world.add(null, `${this.name} waits to delete`, () => this.#delete(command, sessionId, patience - 1));
      return;
    }
    const request: Request = { do: 'delete', ...this.#to(sessionId) };
    this.#askUntilAnswered(0, request);
    if (command.twice) this.#ask(1, request);
  }

  #move(command: ClientCommand & { do: 'move' }, sessionId: string): void {
    const to = this.#to(sessionId);
    if (command.times > 1) {
      for (const request of changesOfPlace(this.#site, to, command.times)) this.#ask(0, request);
      return;
    }
    const request = moveRequest(this.#site, to, command);
    this.#ask(0, request);
    if (command.twice) this.#ask(1, request);
  }

  /** Sends a request, and sends it again after each break until it has an answer. */
  #askUntilAnswered(connection: number, request: Request): void {
    const name = JSON.stringify(request);
    this.#unanswered.set(name, request);
    this.#ask(connection, request, () => this.#unanswered.delete(name));
  }

  #retryAt(process: GatewayProcess): void {
    if (this.#unanswered.size > 0) this.#site.world.add(process, `${this.name} comes back`, () => this.#retry());
  }

  #retry(): void {
    for (const [name, request] of this.#unanswered) this.#ask(0, request, () => this.#unanswered.delete(name));
  }

  #requestOf(command: SessionCommand, sessionId: string): Request | null {
    const to = this.#to(sessionId);
    switch (command.do) {
      case 'cancel': {
        const inputId = `${command.steer === true ? 's' : 'k'}${command.key}`;
        const revision = [null, this.#find(sessionId, inputId)?.revision ?? 1, 99][command.revision] ?? null;
        return { do: 'cancel', ...to, inputId, revision };
      }
      case 'receipt':
        return { do: 'receipt', ...to, inputId: `k${command.key}` };
      case 'interrupt': {
        const generation = this.#site.view.session(sessionId)?.executionGeneration ?? 0;
        return { do: 'interrupt', ...to, executionGeneration: generation + command.offset };
      }
      case 'resolve': {
        const target = this.#resolveTarget(sessionId, command.target);
        if (target === undefined) return null;
        const executionGeneration = (target.executionGeneration ?? 0) + command.offset;
        return { do: 'resolve', ...to, admissionId: target.admissionId, executionGeneration, action: command.action };
      }
      case 'respond': {
        const approvalId = this.#approvalTarget(sessionId, command.target);
        return { do: 'respond', ...to, approvalId, answer: command.answer };
      }
      case 'compress': {
        const focus = command.variant === 0 ? null : 'something else';
        return { do: 'compress', ...to, requestId: `compress-${command.key}`, focus };
      }
      case 'edit':
        return editRequest(this.#site, to, command);
      case 'update':
        return updateRequest(this.#site, to, command);
      case 'fork':
        return forkRequest(this.#site, to, command);
      case 'history':
        return { do: 'history', ...to, forward: command.forward, limit: command.limit };
      case 'lineage':
        return { do: 'lineage', ...to };
      case 'search': {
        const { key, everywhere, limit } = command;
        return { do: 'search', ...to, words: ['prompt', String(key)], everywhere, limit };
      }
      case 'hold': {
        const { seconds = null } = command;
        const until = seconds === null ? null : this.#site.clock.wallAfter(seconds * 1000);
        return { do: 'hold', ...to, until };
      }
      case 'release':
        return { do: 'release', ...to };
      case 'subscribe':
        return this.#followRequest(sessionId, command.connection);
      case 'resume':
        return { do: 'resume', ...to, listener: this.#listener(sessionId, command.connection) };
    }
  }

  #followRequest(sessionId: string, connection: number): Request {
    const afterSeq = this.#readerOf(sessionId).reader.cursor;
    const listener = this.#listener(sessionId, connection);
    return { do: 'subscribe', ...this.#to(sessionId), afterSeq, listener };
  }

  #resolveTarget(sessionId: string, target: number): AdmissionRow | undefined {
    const rows = [...this.#site.view.admissions(sessionId).values()];
    const resolved = rows.filter(({ resolution }) => resolution !== null);
    const unknown = rows.find(({ status }) => status === 'unknown');
    if (target < 2) return unknown ?? resolved.at(-1) ?? rows[0];
    return target === 2 ? (resolved[0] ?? unknown) : rows.at(-1);
  }

  #approvalTarget(sessionId: string, target: number): string {
    const rows = this.#site.view.approvals(sessionId);
    const open = rows.filter(({ resolution }) => resolution === null);
    const targets = [open[0] ?? rows.at(-1), open.at(-1) ?? rows.at(-1), rows.at(-1), rows[0]];
    return targets[target]?.approvalId ?? 'nothing-was-asked';
  }

  #find(sessionId: string, inputId: string): AdmissionRow | undefined {
    return [...this.#site.view.admissions(sessionId).values()].find(
      (row) => row.inputId === inputId && row.principalId === this.principalId,
    );
  }

  #ask(index: number, request: Request, answered: () => void = () => undefined): void {
    const connection = this.#connection(index);
    if (connection === null) return;
    this.#site.coverage.add('command', request.do);
    connection.request(labelOf(request), () => {
      this.#desk.serve(connection, request, (kind) => {
        if (kind === 'done' || kind === 'refused') answered();
      });
    });
  }

  /** The connection of this number, made anew where it is broken; null while nobody serves. */
  #connection(index: number): Connection | null {
    const existing = this.#connections.get(index);
    if (existing?.open === true) return existing;
    const serving = this.#site.living.filter(({ serves }) => serves);
    const oldest = serving[0];
    const takesOldest = serving.length > 1 && this.#site.world.decisions.fault('old_owner', 2) === 1;
    const process = takesOldest ? oldest : serving.at(-1);
    if (process === undefined) return null;
    const { world, settings } = this.#site;
    const connection = new Connection(world, process, `${this.name}.${index}`, settings.backlog);
    this.#connections.set(index, connection);
    return connection;
  }

  #lose(process: GatewayProcess): void {
    for (const connection of this.#connections.values()) if (connection.process === process) connection.close();
  }

  #listener(sessionId: string, connection: number): Listener {
    const own = this.#readerOf(sessionId);
    own.subscription += 1;
    const { subscription } = own;
    const isNewest = (): boolean => own.subscription === subscription;
    return {
      event: (event) => {
        if (isNewest()) own.reader.received(event);
      },
      snapshot: (seq) => {
        if (isNewest()) own.reader.moveTo(seq);
      },
      gone: () => {
        if (isNewest()) this.#readers.delete(sessionId);
      },
      gap: () => {
        this.#site.coverage.add('answer', 'subscription: gap');
        if (isNewest()) this.follow(sessionId, connection);
      },
    };
  }

  #readerOf(sessionId: string): { readonly reader: JudgedReader; subscription: number } {
    const existing = this.#readers.get(sessionId);
    if (existing !== undefined) return existing;
    const own = { reader: this.#site.judge.reader(sessionId), subscription: 0 };
    this.#readers.set(sessionId, own);
    return own;
  }

  #to(sessionId: string): { principalId: string; address: string; sessionId: string } {
    return { principalId: this.principalId, address: sessionId, sessionId };
  }

  #createRequest(session: number, variant: number): Request {
    return { do: 'create', principalId: 'local', requestId: `create-${session}`, model: `model-${session}`, variant };
  }

  /** The session's id, once any client has been told of it. */
  #sessionIdOf(session: number): string | null {
    const { sessions } = this.#site.settings;
    const requestId = session < sessions ? `create-${session}` : `fork-${session - sessions}`;
    return this.#site.judge.clients.createdBy('local', requestId);
  }
}
