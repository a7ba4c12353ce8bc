import { exitCodes, type ExitCode } from '../../config/exit-codes.ts';
import { checksOf } from '../demo/checks.ts';
import { DemoHome } from '../demo/demo-home.ts';
import { runJourney } from '../demo/journey.ts';
import { documentOf, tellReport } from '../demo/report.ts';
import { silentTeller, tellerFor, type Teller } from '../demo/teller.ts';
import { CliFailure } from '../failure.ts';
import { processIo, type CliIo } from '../io.ts';
import type { HomeOptions } from '../options.ts';

/**
 * Runs the journey in a home folder of its own and answers 0 only if everything held. Whatever happens, no process of it
 * is left behind; the folder stays only where there is something to look into.
 */
export async function runDemo({ home: named, json }: HomeOptions, io: CliIo = processIo()): Promise<ExitCode> {
  if (named !== undefined) {
    const message = 'The demo kills its gateway, so it makes a home folder of its own and takes no --home.';
    throw new CliFailure(exitCodes.usage, 'usage', message);
  }
  const isJson = json === true;
  const home = new DemoHome();
  const interruption = interruptionOf(io);
  let exitCode: ExitCode = exitCodes.internal;
  try {
    const shown = show(home, isJson ? silentTeller : tellerFor(io), isJson ? io : null);
    exitCode = await Promise.race([shown, interruption.happened]);
    return exitCode;
  } catch (error) {
    throw withKeptHome(error, home.path);
  } finally {
    interruption.ignore();
    const keep = exitCode === exitCodes.internal;
    await home.close({ keep });
    if (!isJson && keep) io.stderr.write(`The demo's folder is kept, with gateway.log in it: ${home.path}\n`);
    if (!isJson && exitCode === exitCodes.interrupted) {
      io.stderr.write('The demo was stopped. Its gateway and its folder are gone.\n');
    }
  }
}

async function show(home: DemoHome, teller: Teller, json: CliIo | null): Promise<ExitCode> {
  teller.heading('A queue of prompts survives a compression and a kill -9');
  teller.say(
    `A real gateway runs in a folder of its own, ${home.path}. All numbers are what it answers; the epoch counts its starts.`,
  );
  const record = await runJourney(home, teller);
  const checks = checksOf(record);
  const failed = checks.filter(({ holds }) => !holds).length;
  json?.stdout.write(`${JSON.stringify(documentOf(record, checks), null, 2)}\n`);
  tellReport(record, checks, teller);
  teller.heading(failed === 0 ? `All ${checks.length} checks hold.` : `${failed} of ${checks.length} checks FAILED.`);
  return failed === 0 ? exitCodes.ok : exitCodes.internal;
}

/** The failure also tells a program where to look. */
function withKeptHome(error: unknown, home: string): unknown {
  if (!(error instanceof CliFailure)) return error;
  const { exitCode, reason, message, details } = error;
  return new CliFailure(exitCode, reason, message, { details: { ...details, home }, cause: error });
}

/** Ctrl-C, and the other ways to be asked to stop. */
function interruptionOf(io: CliIo): { readonly happened: Promise<ExitCode>; readonly ignore: () => void } {
  const ignorers: (() => void)[] = [];
  const happened = new Promise<ExitCode>((resolve) => {
    const listener = (): void => {
      resolve(exitCodes.interrupted);
    };
    ignorers.push(io.onInterrupt(listener));
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, listener);
      ignorers.push(() => process.off(signal, listener));
    }
  });
  return {
    happened,
    ignore: () => {
      for (const ignore of ignorers) ignore();
    },
  };
}
