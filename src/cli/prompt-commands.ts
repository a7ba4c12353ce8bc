import { Option } from 'commander';
import { exitCodes } from '../config/exit-codes.ts';
import { contextOf, defineRemote, type Definer } from './define-command.ts';
import type { CompressOptions } from './commands/compress.ts';
import type { HoldOptions } from './commands/hold.ts';
import type { SteerInput } from './commands/steer.ts';
import { CliFailure } from './failure.ts';
import {
  readCount,
  readGeneration,
  readSeconds,
  reconnectOption,
  type RemoteOptions,
  type WaitOptions,
} from './options.ts';

/** The commands about prompts: send them, follow them, decide about them. */
export function addPromptCommands({ program, io, ended }: Definer): void {
  defineRemote(program, {
    usage: 'send <session> <text>',
    summary: 'send a prompt',
    description:
      'Sends a prompt and prints its receipt: it is on disk then. The session `new` makes one; the text `-` is read from stdin.',
    examples: [
      "holdfast send new 'What is in this folder?' --wait",
      'holdfast send 0197… - < prompt.txt',
      "holdfast send 0197… 'Deploy it.' --input-id deploy-42   # runs once, however often it is sent",
    ],
  })
    .option('--input-id <id>', 'your own id for the prompt; with the same text it is the same prompt for ever')
    .option('--wait', 'stream the answer and end with its outcome')
    .addOption(reconnectOption())
    .action(async (session: string, text: string, options: SendOptions) => {
      const { runSend } = await import('./commands/send.ts');
      ended(await runSend(await contextOf(io, options), { session, text, ...options }));
    });

  defineRemote(program, {
    usage: 'wait <session> <admission>',
    summary: "wait for a prompt's end",
    description: 'Waits for the end of a prompt and prints its answer. The admission may also be the input id.',
    examples: ['holdfast wait 0197… 0197…', 'holdfast wait 0197… deploy-42 --timeout 600 --json'],
  })
    .addOption(new Option('--timeout <seconds>', 'give up after this time; the prompt goes on').argParser(readSeconds))
    .addOption(reconnectOption())
    .action(async (session: string, admission: string, options: RemoteOptions & WaitOptions & Timeout) => {
      const { runWait } = await import('./commands/wait.ts');
      ended(await runWait(await contextOf(io, options), { session, admission, ...options }));
    });

  defineRemote(program, {
    usage: 'queue <session>',
    summary: 'list the prompts that wait or run',
    description: 'Lists the prompts of a session that have not ended, in their order.',
    examples: ['holdfast queue 0197…', 'holdfast queue 0197… --all --json'],
  })
    .option('--all', 'also those that have ended')
    .action(async (session: string, options: RemoteOptions & { readonly all?: boolean }) => {
      const { runQueue } = await import('./commands/queue.ts');
      ended(await runQueue(await contextOf(io, options), session, options.all === true ? 'all' : 'open'));
    });

  defineRemote(program, {
    usage: 'approvals [session]',
    summary: 'list the tool calls that wait for an approval',
    description: 'Lists the tool calls that wait for an approval, of one session or of all of yours.',
    examples: ['holdfast approvals', 'holdfast approvals 0197… --json'],
  }).action(async (session: string | undefined, options: RemoteOptions) => {
    const { runApprovals } = await import('./commands/approvals.ts');
    ended(await runApprovals(await contextOf(io, options), session ?? null));
  });

  defineRemote(program, {
    usage: 'respond <session> <approval>',
    summary: 'approve or deny a tool call',
    description: 'Answers a tool call that waits for an approval. The first answer wins.',
    examples: ['holdfast respond 0197… 0197… --approve', 'holdfast respond 0197… 0197… --deny'],
  })
    .addOption(new Option('--approve', 'the call runs').conflicts('deny'))
    .option('--deny', 'the model is told that the call was denied, and goes on')
    .action(async (session: string, approval: string, options: RemoteOptions & RespondOptions) => {
      if (options.approve !== true && options.deny !== true) {
        throw new CliFailure(exitCodes.usage, 'usage', 'Say --approve or --deny.');
      }
      const { runRespond } = await import('./commands/respond.ts');
      const answer = options.approve === true ? 'approve' : 'deny';
      ended(await runRespond(await contextOf(io, options), { session, approval, answer }));
    });

  defineRemote(program, {
    usage: 'resolve <session> [admission]',
    summary: 'decide about a turn that was lost',
    description:
      'Decides about a turn that was lost. Nobody knows whether it took effect, so its followers wait until you say.',
    examples: [
      'holdfast resolve 0197…             # shows what is known of it',
      'holdfast resolve 0197… --discard   # ends it as interrupted',
      'holdfast resolve 0197… --retry     # the same, and its prompt runs anew, first of all',
    ],
  })
    .addOption(new Option('--discard', 'end it as interrupted').conflicts('retry'))
    .option('--retry', 'end it as interrupted, and run its prompt again as a new admission')
    .action(async (session: string, admission: string | undefined, options: RemoteOptions & ResolveOptions) => {
      const { runResolve } = await import('./commands/resolve.ts');
      const action = options.retry === true ? 'retry' : options.discard === true ? 'discard' : null;
      ended(await runResolve(await contextOf(io, options), { session, admission: admission ?? null, action }));
    });

  defineRemote(program, {
    usage: 'interrupt <session>',
    summary: 'stop the running turn',
    description: 'Stops the running turn of a session. What it has said so far is kept, and the next prompt runs.',
    examples: ['holdfast interrupt 0197…'],
  }).action(async (session: string, options: RemoteOptions) => {
    const { runInterrupt } = await import('./commands/interrupt.ts');
    ended(await runInterrupt(await contextOf(io, options), session));
  });

  defineRemote(program, {
    usage: 'hold <session>',
    summary: 'pause the queue of a session',
    description: 'Pauses the queue of a session. A turn that runs goes on; prompts are still accepted, and wait.',
    examples: ['holdfast hold 0197…', "holdfast hold 0197… --reason 'until the deployment is over'"],
  })
    .option('--reason <text>', 'what lists show beside the session')
    .action(async (session: string, options: RemoteOptions & HoldOptions) => {
      const { runHold } = await import('./commands/hold.ts');
      ended(await runHold(await contextOf(io, options), session, options));
    });

  defineRemote(program, {
    usage: 'release <session>',
    summary: 'let the queue of a held session go on',
    description:
      'Ends the hold of a session, also one that the gateway set because its model could not answer: its queue goes on.',
    examples: ['holdfast release 0197…'],
  }).action(async (session: string, options: RemoteOptions) => {
    const { runRelease } = await import('./commands/hold.ts');
    ended(await runRelease(await contextOf(io, options), session));
  });

  defineRemote(program, {
    usage: 'steer <session> <text>',
    summary: 'say something to the running turn',
    description:
      'Says something to the running turn of a session: the model hears it with its next step. The text `-` is read from stdin.',
    examples: ["holdfast steer 0197… 'Leave the tests alone.'", "holdfast steer 0197… 'And then?' --if-over queue"],
  })
    .addOption(
      new Option('--generation <n>', 'the execution generation of the turn (default: the one that runs)').argParser(
        readGeneration,
      ),
    )
    .addOption(
      new Option('--if-over <what>', 'what becomes of it if the turn ends first (default: cancel)').choices([
        'cancel',
        'queue',
      ]),
    )
    .option('--input-id <id>', 'your own id for it; with the same text it is said once, however often it is sent')
    .action(async (session: string, text: string, options: RemoteOptions & Omit<SteerInput, 'session' | 'text'>) => {
      const { runSteer } = await import('./commands/steer.ts');
      ended(await runSteer(await contextOf(io, options), { session, text, ...options }));
    });

  defineRemote(program, {
    usage: 'compress <session>',
    summary: 'compress a session now',
    description:
      'Summarises the older part of a session now. Prompts that are sent meanwhile wait; nothing of the history is lost.',
    examples: [
      'holdfast compress 0197… --preview   # shows what it would do',
      "holdfast compress 0197… --focus 'the database schema' --keep-last 10",
    ],
  })
    .option('--focus <text>', 'what the summary is to keep an eye on')
    .addOption(new Option('--keep-last <n>', 'how many of the newest messages stay as they are').argParser(readCount))
    .option('--preview', 'only show what it would do')
    .option('--request-id <id>', 'your own id for the request: it is done once, however often it is sent')
    .action(async (session: string, options: RemoteOptions & Omit<CompressOptions, 'session'>) => {
      const { runCompress } = await import('./commands/compress.ts');
      ended(await runCompress(await contextOf(io, options), { session, ...options }));
    });
}

type SendOptions = RemoteOptions & WaitOptions & { readonly inputId?: string; readonly wait?: boolean };
type Timeout = { readonly timeout?: number };
type RespondOptions = { readonly approve?: boolean; readonly deny?: boolean };
type ResolveOptions = { readonly discard?: boolean; readonly retry?: boolean };
