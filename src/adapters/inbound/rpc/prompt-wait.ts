import type { SessionEvent } from '../../../core/domain/session/events.ts';
import type { Clock } from '../../../core/ports/clock.ts';
import type { EventHub } from '../../../core/ports/event-hub.ts';
import type { StorageHealth } from '../../../core/use-cases/gateway-status.ts';
import type { Sessions } from '../../../core/use-cases/sessions.ts';
import { keyFromWire } from './from-wire.ts';
import type { Handler } from './handler.ts';
import { makeReceiptToWire } from './receipt-to-wire.ts';
import { answerOf } from './refusal-to-wire.ts';

/**
 * Answers when a prompt has ended or nobody knows its fate, or when the time is over.
 *
 * W1: it listens before it reads, so that no end falls between the two.
 * W2: an event only says when to read again; what is answered is a receipt.
 */
export function makePromptWait(deps: {
  readonly sessions: Sessions;
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly storage: () => StorageHealth;
}): Handler<'prompt.wait'> {
  const receiptToWire = makeReceiptToWire(deps);
  return async (params, call) => {
    const key = keyFromWire(params, call.principal.principalId);
    const bell = new Bell();
    const stopListening = deps.hub.listen(params.session_id, {
      durable: (events) => {
        if (events.some(mayEndAWait)) bell.ring();
      },
      live: () => undefined,
    });
    const timer = startTimer(deps.clock, params.timeout_ms, call.gone, () => {
      bell.ring();
    });
    try {
      for (;;) {
        const isOver = timer.isOver();
        const sent = await deps.sessions.send(params.session_id, { kind: 'receipt', key, known: undefined });
        const status = sent.kind === 'done' ? sent.reply.admission.status : null;
        if (isOver || (status !== 'queued' && status !== 'started')) {
          return answerOf(sent, (receipt) => ({ ...receiptToWire(receipt), settled: status === 'terminal' }));
        }
        await bell.rung();
      }
    } finally {
      stopListening();
      timer.stop();
    }
  };
}

function mayEndAWait({ type }: SessionEvent): boolean {
  return endings.has(type);
}

const endings: ReadonlySet<SessionEvent['type']> = new Set<SessionEvent['type']>([
  'turn.settled',
  'turn.lost',
  'turn.resolved',
  'admission.cancelled',
  'admission.merged',
]);

/** Over after so many milliseconds, or at once when the caller has gone. */
function startTimer(
  clock: Clock,
  ms: number,
  gone: AbortSignal,
  onOver: () => void,
): { readonly isOver: () => boolean; readonly stop: () => void } {
  const end = new AbortController();
  const stop = (): void => {
    end.abort();
  };
  let over = false;
  if (gone.aborted) stop();
  else gone.addEventListener('abort', stop, { once: true });
  void clock.sleep(ms, end.signal).then(() => {
    over = true;
    gone.removeEventListener('abort', stop);
    onOver();
  });
  return { isOver: () => over, stop };
}

/** Remembers a ring until somebody waits for it. */
class Bell {
  #rung = false;
  #wake: () => void = () => undefined;

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Resolves when it has rung since the last time. */
  async rung(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#rung = false;
  }
}
