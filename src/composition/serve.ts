import 'reflect-metadata';
import { Secrets } from '../adapters/outbound/logging/secrets.ts';
import { WinstonLogger } from '../adapters/outbound/logging/winston-logger.ts';
import { SystemClock } from '../adapters/outbound/system/system-clock.ts';
import type { Configuration } from '../config/configuration.ts';
import { exitCodes } from '../config/exit-codes.ts';
import type { ExitCode } from '../config/exit-codes.ts';
import { secretValues } from '../config/model-endpoints.ts';
import { readOrCreateToken } from '../config/token.ts';
import type { RecoveryReport } from '../core/use-cases/recovery.ts';
import { mcpSecrets } from './mcp-servers.ts';
import { runDaemon } from './daemon.ts';
import { ListenError } from './listen.ts';
import { stopOnSignals } from './stop.ts';

/** Beyond the drain budget a stop that hangs is a bug; then the watchdog ends the process. */
const watchdogMarginMs = 30_000;

/** Runs the daemon in this process, with its log on stderr, until a signal or a fault ends it. */
export async function serveUntilStopped(configuration: Configuration, json: boolean): Promise<ExitCode> {
  const secrets = secretsOf(configuration);
  const logger = makeLogger(configuration, secrets, json);
  const end = (code: ExitCode): void => {
    void logger.flush().finally(() => process.exit(code));
  };
  const stop = stopOnSignals(process, {
    ms: configuration.config.shutdown.drain_seconds * 1000 + watchdogMarginMs,
    bark: () => {
      logger.error('the watchdog ends a stop that hangs');
      end(exitCodes.internal);
    },
  });
  // A bug anywhere: nothing that this process believes can be trusted, and recovery puts right what it leaves.
  const broken = (error: unknown): void => {
    logger.error('an uncaught error ends the gateway', { error });
    end(exitCodes.internal);
  };
  process.on('uncaughtException', broken);
  process.on('unhandledRejection', broken);
  for (const { level, message } of configuration.notices) logger[level](message);
  const code = await runDaemon({
    configuration,
    logger,
    mask: (text) => secrets.mask(text),
    stop,
    onReady: ({ url, recovered }) => {
      if (!json) process.stdout.write(announcement(configuration.home, url, recovered));
    },
  }).catch((error: unknown) => {
    logger.error(error instanceof ListenError ? error.message : 'the gateway could not start', { error });
    return error instanceof ListenError ? exitCodes.configuration : exitCodes.internal;
  });
  await logger.flush();
  return code;
}

/** Everything that must stay out of the log and of summaries. */
function secretsOf({ config, environment, endpoints, home }: Configuration): Secrets {
  const secrets = new Secrets();
  secrets.add(readOrCreateToken(home), ...secretValues(endpoints), ...mcpSecrets(config, environment));
  return secrets;
}

function makeLogger({ config, environment, logLevel }: Configuration, secrets: Secrets, json: boolean): WinstonLogger {
  const clock = new SystemClock();
  return new WinstonLogger({
    level: logLevel,
    format: json ? 'json' : config.logging.format,
    colour: environment.get('NO_COLOR') === undefined,
    secrets,
    stream: process.stderr,
    now: () => clock.now(),
  });
}

/** What a person who has just started the gateway wants to know. */
function announcement(home: string, url: string, { requeued, lost, ended }: RecoveryReport): string {
  const found = requeued + lost + ended;
  const recovered =
    found === 0
      ? ''
      : `Recovered ${String(found)} ${found === 1 ? 'turn' : 'turns'} of the last run: ${String(requeued)} queued again, ${String(ended)} ended, ` +
        `${String(lost)} unknown${lost > 0 ? ' (holdfast status shows them, holdfast resolve decides)' : ''}.\n`;
  return `
Holdfast is ready at ${url}
Home folder: ${home}
${recovered}
Try, in another terminal:
  npx holdfast send new 'Hello' --wait --home '${home}'
  npx holdfast status --home '${home}'
  npx holdfast demo

Stop it with Ctrl-C: queued prompts stay and run after the next start.
`;
}
