import type { ToolCallRequest, ToolDescriptor, ToolHost, ToolOutcome } from '../../../src/core/ports/tool-host.ts';
import type { Judge } from '../judge/judge.ts';
import type { SimulatedClock } from '../world/simulated-clock.ts';
import type { World } from '../world/world.ts';
import type { Asker } from './model-server.ts';

/** How long a host waits for a silent tool, in milliseconds. */
const timeoutMs = 60_000;

/** The name under which the model servers know the one tool that there is. */
export const toolName = 'scripted__look';

const tool: ToolDescriptor = {
  name: toolName,
  description: 'Looks.',
  parameters: { type: 'object' },
  server: 'scripted',
  serverTool: 'look',
};

const { name, description, parameters } = tool;

/** What the tool costs in each request, as the simulated counter counts. */
export const toolTokens = Math.ceil(JSON.stringify({ name, description, parameters }).length / 4);

type ToolEnd = { readonly kind: 'outcome'; readonly outcome: ToolOutcome } | { readonly kind: 'hang' | 'throw' };

/** What a tool does with a call; the first is no fault. */
const ends: readonly ((number: number) => ToolEnd)[] = [
  (number) => answer(`Seen ${number}.`),
  (number) => answer(`Nothing ${number}.`, true),
  (number) => answer(`Seen ${number}.${' word'.repeat(200)}`),
  () => answer(''),
  () => ({ kind: 'outcome', outcome: broken('unavailable') }),
  () => ({ kind: 'hang' }),
  () => ({ kind: 'throw' }),
];

/** The tools behind every process, and the hosts that call them. */
export class ToolServer {
  readonly #world: World;
  readonly #clock: SimulatedClock;
  readonly #judge: Judge;
  #count = 0;

  constructor(deps: { readonly world: World; readonly clock: SimulatedClock; readonly judge: Judge }) {
    this.#world = deps.world;
    this.#clock = deps.clock;
    this.#judge = deps.judge;
  }

  /** The host of one process. An abort and an answer race as they do in the world. */
  hostFor(asker: Asker): ToolHost {
    return {
      list: () => this.#world.call(asker, 'list tools', () => [tool]),
      call: (request, signal) => this.#call(asker, request, signal),
      health: () => [],
      close: () => Promise.resolve(),
    };
  }

  #call(asker: Asker, request: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome> {
    const { callId, sessionId, arguments: given } = request;
    this.#count += 1;
    const number = this.#count;
    const path = String(given['path']);
    this.#judge.tools.called({ process: asker, sessionId, callId, path, turn: asker.turnOf(sessionId) });
    return new Promise((resolve, reject) => {
      const abort = (): void => this.#world.add(asker, 'tool call aborts', () => resolve(broken('aborted')));
      signal.addEventListener('abort', abort);
      this.#world.add(asker, 'tool call arrives', () => {
        const end = ends[this.#world.decisions.fault('tool', ends.length)]?.(number) ?? { kind: 'hang' };
        if (end.kind === 'hang') {
          this.#clock.after(asker, timeoutMs, () => resolve(broken('timeout')));
          return;
        }
        this.#world.add(asker, 'tool call answers', () => {
          signal.removeEventListener('abort', abort);
          if (end.kind === 'outcome') resolve(end.outcome);
          else reject(new Error('the host broke'));
        });
      });
    });
  }
}

function answer(text: string, isError = false): ToolEnd {
  return { kind: 'outcome', outcome: { kind: 'answered', text, isError } };
}

function broken(reason: 'aborted' | 'timeout' | 'unavailable'): ToolOutcome {
  return { kind: 'broken', reason, message: `The tool was ${reason}.`, notStarted: reason === 'unavailable' };
}
