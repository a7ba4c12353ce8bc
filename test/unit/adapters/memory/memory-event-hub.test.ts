import { describe, expect, test } from 'vitest';
import { MemoryEventHub } from '../../../../src/adapters/outbound/memory/memory-event-hub.ts';
import { RecordingLogger } from '../../../../src/adapters/outbound/memory/recording-logger.ts';
import { silentLogger } from '../../../../src/adapters/outbound/memory/silent-logger.ts';
import type { SessionEvent } from '../../../../src/core/domain/session/events.ts';
import type { HubListener, LiveEvent } from '../../../../src/core/ports/event-hub.ts';
import { anEvent } from '../../../support/builders.ts';

function released(seq: number): SessionEvent {
  return anEvent({ type: 'session.released', by: 'local' }, { seq });
}

function delta(text: string, sessionId = 'session-1'): LiveEvent {
  const header = {
    sessionId,
    at: '2030-01-01T00:00:00.000Z',
    epoch: 1,
    admissionId: 'admission-1',
    executionGeneration: 1,
  };
  return { ...header, type: 'message.delta', step: 1, offset: 0, text };
}

/** A listener that writes down what it hears; `then` runs after each thing it heard. */
function listenerInto(heard: string[], then: (what: string) => void = () => undefined): HubListener {
  const hear = (what: string): void => {
    heard.push(what);
    then(what);
  };
  return {
    durable: (events) => hear(events.map((event) => event.seq).join()),
    live: (event) => hear('text' in event ? event.text : event.type),
  };
}

describe('the event hub', () => {
  test('hands durable and live events to each listener of their session, before publish returns and in order', () => {
    const hub = new MemoryEventHub(silentLogger);
    const [first, second, elsewhere]: [string[], string[], string[]] = [[], [], []];
    hub.listen('session-1', listenerInto(first));
    hub.listen('session-1', listenerInto(second));
    hub.listen('session-2', listenerInto(elsewhere));

    hub.publish('session-1', [released(1), released(2)]);
    hub.publishLive(delta('Hel'));
    hub.publishLive(delta('lo'));
    hub.publish('session-1', [released(3)]);

    expect(first).toEqual(['1,2', 'Hel', 'lo', '3']);
    expect(second).toEqual(first);
    expect(elsewhere).toEqual([]);
  });

  test('calls nobody for no events', () => {
    const hub = new MemoryEventHub(silentLogger);
    const heard: string[] = [];
    hub.listen('session-1', listenerInto(heard));

    hub.publish('session-1', []);

    expect(heard).toEqual([]);
  });

  test('logs a listener that throws, and nobody else notices', () => {
    const logger = new RecordingLogger();
    const hub = new MemoryEventHub(logger);
    const heard: string[] = [];
    const error = new Error('a bug in a subscriber');
    const broken = (): never => {
      throw error;
    };
    hub.listen('session-1', { durable: broken, live: broken });
    hub.listen('session-1', listenerInto(heard));

    hub.publish('session-1', [released(1)]);
    hub.publishLive(delta('a'));

    expect(heard).toEqual(['1', 'a']);
    const line = {
      level: 'error',
      message: 'A listener of the event hub threw',
      fields: { sessionId: 'session-1', error },
    };
    expect(logger.lines).toEqual([line, line]);
  });

  test('keeps the order for everybody when a listener publishes while it is called', () => {
    const hub = new MemoryEventHub(silentLogger);
    const heard: string[] = [];
    hub.listen(
      'session-1',
      listenerInto([], (what) => {
        if (what === '1') hub.publish('session-1', [released(2)]);
      }),
    );
    hub.listen('session-1', listenerInto(heard));

    hub.publish('session-1', [released(1)]);

    expect(heard).toEqual(['1', '2']);
  });

  test('lets a listener hear what is published after it began to listen, and nothing from before', () => {
    const hub = new MemoryEventHub(silentLogger);
    const late: string[] = [];
    hub.listen(
      'session-1',
      listenerInto([], (what) => {
        if (what !== '1') return;
        hub.publish('session-1', [released(2)]);
        hub.listen('session-1', listenerInto(late));
        hub.publish('session-1', [released(3)]);
      }),
    );

    hub.publish('session-1', [released(1)]);

    expect(late).toEqual(['3']);
  });

  test('never calls a listener after it has stopped listening, not even with what was published before', () => {
    const hub = new MemoryEventHub(silentLogger);
    const heard: string[] = [];
    const stops: (() => void)[] = [];
    hub.listen('session-1', { durable: () => stops.forEach((stop) => stop()), live: () => undefined });
    stops.push(hub.listen('session-1', listenerInto(heard)));

    hub.publish('session-1', [released(1)]);

    expect(heard).toEqual([]);
  });

  test('knows whether anybody listens, however often somebody stops', () => {
    const hub = new MemoryEventHub(silentLogger);
    expect(hub.hasListeners('session-1')).toBe(false);

    const listener = listenerInto([]);
    const stopFirst = hub.listen('session-1', listener);
    const stopSecond = hub.listen('session-1', listener);
    stopFirst();
    stopFirst();
    expect(hub.hasListeners('session-1')).toBe(true);

    stopSecond();
    expect(hub.hasListeners('session-1')).toBe(false);
  });

  test('tells apart a listener that stopped and one that came after it', () => {
    const hub = new MemoryEventHub(silentLogger);
    const stopOld = hub.listen('session-1', listenerInto([]));
    stopOld();
    hub.listen('session-1', listenerInto([]));

    stopOld();

    expect(hub.hasListeners('session-1')).toBe(true);
  });
});
