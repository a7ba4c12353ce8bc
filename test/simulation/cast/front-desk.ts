import type { Sent } from '../../../src/core/use-cases/sessions.ts';
import type { Receipt } from '../../../src/core/domain/admission/receipt.ts';
import type { CommandReplies } from '../../../src/core/domain/session/commands.ts';
import type { SessionCreated } from '../../../src/core/use-cases/create-session.ts';
import type { ApprovalResponse } from '../../../src/core/use-cases/respond-approval.ts';
import type { EventSink } from '../../../src/core/use-cases/subscribe.ts';
import type { Asked } from '../judge/calls.ts';
import type { JudgedStream, StreamedEvent } from '../judge/stream-judge.ts';
import type { Place, PromptKey } from '../judge/queue-judge.ts';
import type { Connection } from './connection.ts';
import type { Services } from './gateway-process.ts';
import { serveLife } from './life-desk.ts';
import type { UpdateChanges } from './life-desk.ts';
import type { Site } from './site.ts';

export interface To {
  readonly principalId: string;
  /** Any id of the session's lineage. */
  readonly address: string;
  readonly sessionId: string;
}

export type Request =
  | {
      readonly do: 'create';
      readonly principalId: string;
      readonly requestId: string;
      readonly model: string;
      readonly variant: number;
    }
  | ({ readonly do: 'submit'; readonly inputId: string; readonly text: string } & To)
  | ({
      readonly do: 'steer';
      readonly inputId: string;
      readonly text: string;
      readonly executionGeneration: number;
      readonly ifOver: 'cancel' | 'queue';
    } & To)
  | ({ readonly do: 'cancel'; readonly inputId: string; readonly revision: number | null } & To)
  | ({ readonly do: 'receipt'; readonly inputId: string } & To)
  | ({ readonly do: 'interrupt'; readonly executionGeneration: number } & To)
  | ({
      readonly do: 'resolve';
      readonly admissionId: string;
      readonly executionGeneration: number;
      readonly action: 'discard' | 'retry';
    } & To)
  | ({ readonly do: 'respond'; readonly approvalId: string; readonly answer: 'approve' | 'deny' } & To)
  | ({ readonly do: 'compress'; readonly requestId: string; readonly focus: string | null } & To)
  | ({ readonly do: 'edit'; readonly revision: number | null; readonly text: string } & PromptKey & To)
  | ({ readonly do: 'move'; readonly revision: number | null; readonly to: Place } & PromptKey & To)
  | ({ readonly do: 'update'; readonly changes: UpdateChanges; readonly revision: number | null } & To)
  | ({ readonly do: 'delete' } & To)
  | ({ readonly do: 'lineage' } & To)
  | ({ readonly do: 'fork'; readonly requestId: string; readonly messageId: number } & To)
  | ({ readonly do: 'history'; readonly forward: boolean; readonly limit: number } & To)
  | ({
      readonly do: 'search';
      readonly words: readonly string[];
      readonly everywhere: boolean;
      readonly limit: number;
    } & To)
  | ({ readonly do: 'hold'; readonly until: string | null } & To)
  | ({ readonly do: 'release' } & To)
  | ({ readonly do: 'subscribe'; readonly afterSeq: number; readonly listener: Listener } & To)
  | ({ readonly do: 'resume'; readonly listener: Listener } & To)
  | { readonly do: 'status' };

/** What a client does with what it hears of a subscription. */
export interface Listener {
  event(event: StreamedEvent): void;
  snapshot(seq: number): void;
  gap(): void;
  /** The session was deleted. */
  gone(): void;
}

/** The gateway's side of the connections: hands requests to the core and answers, as the RPC adapter does. */
export class FrontDesk {
  readonly #site: Site;
  readonly #subscriptions = new WeakMap<Connection, Map<string, { close(): void }>>();
  #retries = 0;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Serves a request that has arrived. `answered` is called when its answer leaves. */
  serve(connection: Connection, request: Request, answered: (kind: string) => void): void {
    const { services } = connection.process;
    if (services === null) return;
    this.#answer(connection, request, services, answered).catch((error: unknown) => {
      // The adapter answers "internal error", and storage trouble as such; both are no promise kept or broken.
      const { core, judge, view } = this.#site;
      const serves = connection.process.epoch === view.epoch() && connection.process.serves;
      if (serves && !(error instanceof core.StorageError)) judge.breach('bug', `${request.do} threw ${String(error)}`);
      answered('threw');
    });
  }

  async #answer(
    connection: Connection,
    request: Request,
    services: Services,
    answered: (kind: string) => void,
  ): Promise<void> {
    const { process } = connection;
    const { clients } = this.#site.judge;
    const say = (sent: Answered): void => {
      this.#count(request.do, sent);
      answered(sent.kind);
      connection.push(`${request.do} ${describe(sent)}`, () => undefined);
    };
    if (request.do === 'status') {
      await services.gateway.status();
      return;
    }
    if (request.do === 'create') {
      const sent: Sent<SessionCreated> = await services.createSession({
        principalId: request.principalId,
        requestId: request.requestId,
        source: 'test',
        title: `variant ${request.variant}`,
        provider: null,
        model: request.model,
        baseUrl: null,
        cwd: null,
        systemPrompt: 'Be brief.',
        toolsets: null,
      });
      clients.created(request, sent);
      say(sent);
      return;
    }
    const { sessions } = services.gateway;
    const asked = {
      ...request,
      sinceSeq: this.#site.view.session(request.sessionId)?.seq ?? 0,
      toldSeq: clients.toldSeq(process, request.sessionId),
      deletionAnswered: clients.wasDeletionAnswered(request.sessionId),
    };
    const sessionId = request.address === request.sessionId ? request.sessionId : await sessions.idOf(request.address);
    if (sessionId !== request.sessionId) {
      this.#site.judge.breach('P8', `${request.address} leads to ${sessionId} instead of ${request.sessionId}`);
      return;
    }
    switch (asked.do) {
      case 'submit': {
        const { principalId, inputId, text } = asked;
        const sent: Sent<Receipt> = await services.submitPrompt({
          sessionId,
          principalId,
          inputId,
          payload: { text, parts: null },
        });
        if (!clients.explains(process, asked, sent)) clients.submitted(process, asked, sent);
        say(sent);
        return;
      }
      case 'steer': {
        const { principalId, inputId, text, executionGeneration, ifOver } = asked;
        const payload = { text, parts: null };
        const input = { sessionId, principalId, inputId, payload, executionGeneration, ifOver };
        const sent: Sent<Receipt> = await services.steerPrompt(input);
        if (!clients.explains(process, asked, sent)) clients.submitted(process, asked, sent);
        say(sent);
        return;
      }
      case 'cancel': {
        const { principalId, inputId, revision } = asked;
        const key = { principalId, inputId };
        const sent = await sessions.send(sessionId, { kind: 'cancel', key, revision, known: undefined });
        if (!clients.explains(process, asked, sent)) clients.cancelled(process, asked, sent);
        say(sent);
        return;
      }
      case 'receipt': {
        const key = { principalId: asked.principalId, inputId: asked.inputId };
        const sent = await sessions.send(sessionId, { kind: 'receipt', key, known: undefined });
        if (!clients.explains(process, asked, sent)) clients.receiptGiven(process, asked, sent);
        say(sent);
        return;
      }
      case 'interrupt': {
        const { executionGeneration, principalId: by } = asked;
        const sent = await sessions.send(sessionId, { kind: 'interrupt', executionGeneration, by });
        if (!clients.explains(process, asked, sent)) clients.interrupted(process, asked, sent);
        say(sent);
        return;
      }
      case 'resolve': {
        const { admissionId, executionGeneration, action, principalId: by } = asked;
        const retryAdmissionId = `${process.name}-retry-${(this.#retries += 1)}`;
        const sent: Sent<CommandReplies['resolve_unknown']> = await sessions.send(sessionId, {
          kind: 'resolve_unknown',
          admissionId,
          executionGeneration,
          action,
          by,
          retryAdmissionId,
          known: undefined,
        });
        if (!clients.explains(process, asked, sent)) clients.resolved(process, asked, sent);
        say(sent);
        return;
      }
      case 'respond': {
        const { approvalId, answer, principalId: by } = asked;
        const sent: Sent<ApprovalResponse> = await services.respondApproval({ sessionId, approvalId, answer, by });
        if (!clients.explains(process, asked, sent)) clients.responded(process, asked, sent);
        say(sent);
        return;
      }
      case 'compress': {
        const { principalId, requestId, focus } = asked;
        const request = { sessionId, principalId, requestId, focus, keepLast: null };
        const outcome = await services.gateway.byHand.compress(request);
        if (!clients.explains(process, asked, outcome)) clients.compressed(process, asked, outcome);
        say(outcome);
        return;
      }
      case 'hold': {
        const hold = { reason: 'a client', until: asked.until, by: asked.principalId };
        const sent = await sessions.send(sessionId, { kind: 'hold', hold });
        if (!clients.explains(process, asked, sent)) clients.revised(asked, sent);
        say(sent);
        return;
      }
      case 'release': {
        const sent = await sessions.send(sessionId, { kind: 'release', by: asked.principalId, until: null });
        if (!clients.explains(process, asked, sent)) clients.revised(asked, sent);
        say(sent);
        return;
      }
      case 'edit':
      case 'move':
      case 'update':
      case 'delete':
      case 'fork':
      case 'history':
      case 'lineage':
      case 'search':
        say(await serveLife({ clients, process, services }, asked));
        return;
      case 'subscribe':
        return this.#subscribe(connection, services, asked, asked.afterSeq);
      case 'resume':
        return this.#resume(connection, services, asked);
    }
  }

  async #resume(
    connection: Connection,
    services: Services,
    asked: Asked & { readonly do: string; readonly listener: Listener },
  ): Promise<void> {
    const limit = this.#site.settings.messageLimit;
    const { sessionId, listener } = asked;
    const snapshot = await services.gateway.readSnapshot({ sessionId, messageLimit: limit, before: null });
    this.#site.judge.clients.snapshot(connection.process, { ...asked, limit }, snapshot);
    if (snapshot === null) connection.push(`${sessionId} is gone`, () => listener.gone());
    if (snapshot === null || !connection.open) return;
    const { seq } = snapshot.state;
    connection.push(`snapshot of ${sessionId} at ${seq}`, () => listener.snapshot(seq));
    await this.#subscribe(connection, services, asked, seq);
  }

  /** The place is taken in the order of the calls, and filled when it is known that there is something to hear. */
  async #subscribe(
    connection: Connection,
    services: Services,
    to: Asked & { readonly do: string; readonly listener: Listener },
    afterSeq: number,
  ): Promise<void> {
    if (!connection.open) return;
    const { sessionId } = to;
    const own = this.#subscriptions.get(connection) ?? this.#keep(connection);
    own.get(sessionId)?.close();
    const place = { close: () => undefined };
    own.set(sessionId, place);
    const state = await services.gateway.sessions.state(sessionId);
    if (!connection.open || own.get(sessionId) !== place) return;
    if (state === null || state.deletedAt !== null) {
      this.#site.judge.clients.explains(connection.process, to, { kind: 'not_found' });
      connection.push(`${sessionId} is gone`, () => to.listener.gone());
      return;
    }
    const stream = this.#site.judge.stream(sessionId, afterSeq);
    own.set(sessionId, services.subscribe({ sessionId, afterSeq, sink: this.#sink(connection, to, stream) }));
  }

  #keep(connection: Connection): Map<string, { close(): void }> {
    const own = new Map<string, { close(): void }>();
    this.#subscriptions.set(connection, own);
    connection.onClose(() => {
      for (const subscription of own.values()) subscription.close();
    });
    return own;
  }

  #sink(connection: Connection, { sessionId, listener }: To & { listener: Listener }, stream: JudgedStream): EventSink {
    const { judge } = this.#site;
    const { process } = connection;
    return {
      durable: (event) => {
        if (!connection.hasRoom) return false;
        stream.published(event);
        judge.clients.told(process, sessionId, event.seq);
        connection.push(`${event.type} ${event.seq} of ${sessionId}`, () => listener.event(event));
        return true;
      },
      live: (event) => {
        if (!connection.hasRoom) return false;
        stream.live(process, event);
        connection.push(`${event.type} of ${sessionId}`, () => undefined);
        return true;
      },
      gap: (lastSeq) => {
        stream.gap(lastSeq);
        connection.push(`gap of ${sessionId} after ${lastSeq}`, () => listener.gap());
      },
      drained: () => connection.room(),
    };
  }

  #count(command: string, sent: Answered): void {
    const { coverage } = this.#site;
    coverage.add('answer', `${command}: ${sent.kind}`);
    if (sent.refusal === undefined) return;
    coverage.add('refusal', sent.refusal.reason);
    coverage.add('answer', `${command}: refused: ${sent.refusal.reason}`);
  }
}

/** An answer, whatever it is to. */
export interface Answered {
  readonly kind: string;
  readonly refusal?: { readonly reason: string };
}

function describe({ kind, refusal }: Answered): string {
  return refusal === undefined ? kind : `${kind}: ${refusal.reason}`;
}
