import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import type { ResultOf } from '../../protocol/registry.ts';
import { printResult, withConnection, type CommandContext } from '../command-context.ts';

export interface CompressOptions {
  readonly session: string;
  readonly focus?: string;
  readonly keepLast?: number;
  readonly preview?: boolean;
  readonly requestId?: string;
}

type Compressed = ResultOf<'session.compress'>;

/** Several summaries may be asked for, and each may take its whole time. */
const longestMs = 30 * 60_000;

/** Compresses a session now, or says what that would do. */
export async function runCompress(context: CommandContext, options: CompressOptions): Promise<ExitCode> {
  return withConnection(context, async (connection) => {
    const { session, focus, keepLast, preview, requestId } = options;
    const compressed = await connection.call(
      'session.compress',
      {
        session_id: session,
        preview: preview === true,
        ...(focus === undefined ? {} : { focus }),
        ...(keepLast === undefined ? {} : { keep_last: keepLast }),
        ...(requestId === undefined ? {} : { request_id: requestId }),
      },
      { timeoutMs: longestMs },
    );
    printResult(context, compressed, () => (compressed.preview ? previewText(compressed) : resultText(compressed)));
    return exitCodes.ok;
  });
}

function resultText(compressed: Extract<Compressed, { preview: false }>): string {
  const { tokens_before: before, tokens_after: after, model, duplicate, stored_session_id: transcript } = compressed;
  const done = duplicate ? 'Compressed by an earlier call' : 'Compressed';
  return `${done}: ${before} tokens became ${after}, summarised by ${model}. The transcript is ${transcript}.`;
}

function previewText({ tokens, window_tokens, trigger_tokens, plans }: Extract<Compressed, { preview: true }>): string {
  const size = `${tokens} of ${window_tokens} tokens; compressed by itself at ${trigger_tokens}.`;
  const [first] = plans;
  if (first === undefined) return `${size}\nThere is nothing to compress.`;
  const part = ({ messages, tokens: count }: typeof first.head): string => `${messages} messages (${count} tokens)`;
  return `${size}\nIt would summarise ${part(first.middle)} and keep ${part(first.head)} before and ${part(first.tail)} behind them.`;
}
