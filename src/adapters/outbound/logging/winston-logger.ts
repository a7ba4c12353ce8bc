import winston from 'winston';
import type { LogFields, Logger } from '../../../core/ports/logger.ts';
import { jsonLine, prettyLine, type LogEntry } from './log-lines.ts';
import { toPlain } from './plain.ts';
import type { Secrets } from './secrets.ts';

export interface WinstonLoggerOptions {
  /** The least important level that is written. */
  readonly level: LogEntry['level'];
  /** `auto`: `pretty` where the stream is a terminal, else `json`. */
  readonly format: 'auto' | 'json' | 'pretty';
  /** Whether pretty lines have colours. */
  readonly colour: boolean;
  readonly secrets: Secrets;
  /** Where the lines go: stderr, as stdout belongs to a command's result. */
  readonly stream: LogStream;
  /** ISO 8601 in UTC. */
  readonly now: () => string;
}

type LogStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * The log. Levels: `error` needs somebody now, `warn` soon, `info` tells what the process does, `debug` is for whoever
 * looks for a fault. The text of prompts and answers is never above `debug`.
 *
 * L1: nothing that is registered with `secrets` or stands under a secret's name is written.
 * L2: a call never throws and never waits, whatever it is given and whatever became of the stream.
 * L3: after `flush` every line that was logged before it has been handed to the operating system, unless that takes
 *     none of them for two seconds.
 */
export class WinstonLogger implements Logger {
  readonly #options: WinstonLoggerOptions;
  #winston: winston.Logger;

  constructor(options: WinstonLoggerOptions) {
    this.#options = options;
    options.stream.on('error', ignore); // L2: a closed pipe is no reason to die.
    this.#winston = open(options);
  }

  debug(message: string, fields?: LogFields): void {
    this.#log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log('error', message, fields);
  }

  /**
   * Await it before `process.exit`: winston writes later than it is called, and an exit loses what it still has. It may
   * be called again, and the logger goes on working.
   */
  async flush(): Promise<void> {
    const full = this.#winston;
    this.#winston = open(this.#options);
    // A pipe that nobody reads from must not hold the exit.
    await Promise.race([drain(full, this.#options.stream), pause(longestFlushMs)]);
  }

  #log(level: LogEntry['level'], message: string, fields: LogFields = {}): void {
    if (ranks[level] > ranks[this.#options.level]) return;
    const { secrets, now } = this.#options;
    // Converted now, since winston formats later and the caller may go on changing its objects. The fields stay below a
    // key of their own, since winston would glue one called `message` to the message.
    this.#winston.log({ level, message: secrets.mask(message), at: now(), fields: toPlain(fields, secrets) });
  }
}

const longestFlushMs = 2_000;

const ranks: Readonly<Record<LogEntry['level'], number>> = { error: 0, warn: 1, info: 2, debug: 3 };

function open({ level, format, colour, stream }: WinstonLoggerOptions): winston.Logger {
  const pretty = format === 'pretty' || (format === 'auto' && stream.isTTY === true);
  const line = winston.format((info) => {
    const entry: LogEntry = {
      at: String(info['at']),
      level: info.level as LogEntry['level'], // `#log` is the only caller.
      message: String(info.message),
      fields: info['fields'] as LogEntry['fields'],
    };
    return { ...info, [Symbol.for('message')]: pretty ? prettyLine(entry, colour) : jsonLine(entry) };
  });
  const transport = new winston.transports.Stream({ stream, eol: '\n', format: line() });
  return winston.createLogger({ level, levels: { ...ranks }, transports: [transport] }).on('error', ignore);
}

async function drain(logger: winston.Logger, stream: LogStream): Promise<void> {
  await new Promise<void>((resolve) => {
    logger.once('finish', resolve);
    logger.end();
  });
  if (stream.writable) await new Promise<void>((resolve) => stream.write('', () => resolve()));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

function ignore(): void {
  // There is nowhere left to say it.
}
