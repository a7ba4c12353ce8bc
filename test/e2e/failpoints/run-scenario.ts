import { Daemon } from '../../support/daemon.ts';
import type { Exit, TestHome } from '../../support/daemon.ts';
import { DaemonLog } from '../../support/daemon-log.ts';
import { audit, auditAtRest } from '../books/audit.ts';
import { Bookkeeper, ConnectionLost } from '../books/bookkeeper.ts';
import type { Books } from '../books/books.ts';
import { errorsIn } from '../books/errors-in.ts';
import { finish } from '../books/finish.ts';
import { readRows } from '../books/rows.ts';
import type { Witness, WitnessServer } from '../books/witness.ts';
import { copyHome, daemonEnvironment, homeConfig, journalConfig, journalOf } from './home-copies.ts';
import type { Beginning } from './home-copies.ts';
import type { Act, Scenario } from './acts.ts';

export interface Outcome {
  /** How the daemon that had the failpoint ended, the first of them where it died more than once. */
  readonly exit: Exit;
  /** What is wrong with the file that the dead process left, and with everything once a fresh one has finished. */
  readonly findings: readonly string[];
}

/** How often a start dies in a row. Two are given back; a third start that dies before its request ends the turn. */
const deathsOfStarts = 3;

/** Runs a scenario with one failpoint, starts a fresh daemon after the death, lets a client finish, and audits. */
export async function runScenario(
  server: WitnessServer,
  scenario: Scenario,
  beginning: Beginning,
  run: { readonly key: string; readonly point: string; readonly action: 'kill' | 'throw' },
): Promise<Outcome> {
  const [name, nth] = run.point.split('@');
  const witness = server.witness(run.key, beginning.witness);
  witness.summaries = scenario.summaries ?? 'answer';
  const books = beginning.books.copy();
  const config = homeConfig(server.url, scenario.compresses, scenario.drainSeconds, scenario.inPlace);
  const home = copyHome(beginning.home, config);
  if (scenario.tool !== undefined) home.configure({ ...config, ...journalConfig(home, scenario.tool) });
  const environment = {
    ...daemonEnvironment(witness),
    HOLDFAST_FAILPOINTS: `${String(name)}:${run.action}${nth === undefined ? '' : `@${nth}`}`,
  };
  const daemons: Daemon[] = [];
  try {
    let exit: Exit;
    if (scenario.act === null) exit = await dieStarting(home, environment, daemons);
    else exit = await dieActing(scenario.act, { home, books, witness, environment, daemons });
    const afterDeath = audit({ books, rows: readRows(home), witness, journal: journalOf(home) });
    witness.summaries = 'answer';
    witness.openGate();

    const next = await Daemon.start(home, daemonEnvironment(witness));
    daemons.push(next);
    const client = await Bookkeeper.connect(books, home);
    await finish(client, { onUnknown: scenario.onUnknown ?? 'discard' });
    client.close();
    const atRest = auditAtRest({ books, rows: readRows(home), witness, journal: journalOf(home) });
    // A daemon that has met a bug says so.
    const errors = (run.action === 'throw' ? [next] : daemons).flatMap(({ output }) => errorsIn(output));
    return { exit, findings: [...afterDeath.map((finding) => `after the death: ${finding}`), ...atRest, ...errors] };
  } finally {
    for (const daemon of daemons)
      if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.kill('SIGKILL');
    home.remove();
  }
}

/** A start that has committed its recovery has nothing to recover the next time, so that later ones may live. */
async function dieStarting(
  home: TestHome,
  environment: Readonly<Record<string, string>>,
  daemons: Daemon[],
): Promise<Exit> {
  const exits: Exit[] = [];
  while (exits.length < deathsOfStarts) {
    const daemon = Daemon.spawn(home, environment);
    daemons.push(daemon);
    const serves = await daemon.ready(home).then(
      () => true,
      () => false,
    );
    exits.push(await (serves ? daemon.kill('SIGTERM') : daemon.exited));
    if (serves) break;
  }
  return exits[0] ?? { code: null, signal: null };
}

async function dieActing(
  act: NonNullable<Scenario['act']>,
  {
    home,
    books,
    witness,
    environment,
    daemons,
  }: {
    readonly home: TestHome;
    readonly books: Books;
    readonly witness: Witness;
    readonly environment: Readonly<Record<string, string>>;
    readonly daemons: Daemon[];
  },
): Promise<Exit> {
  const daemon = Daemon.spawn(home, environment);
  daemons.push(daemon);
  const log = new DaemonLog(daemon);
  if (
    !(await daemon.ready(home).then(
      () => true,
      () => false,
    ))
  )
    return daemon.exited;
  const dead = daemon.exited.then(() => {
    throw new ConnectionLost('the daemon is dead');
  });
  dead.catch(() => undefined); // whoever waits for something races with it
  const unlessDead: Act['unlessDead'] = (what) => Promise.race([what, dead]);
  let client: Bookkeeper | null = null;
  try {
    client = await Bookkeeper.connect(books, home);
    await act({ client, witness, daemon, log, unlessDead });
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
  }
  const isAlive = client !== null && (await client.isAlive());
  const exit = await (isAlive ? daemon.kill('SIGTERM') : daemon.exited);
  client?.listen();
  client?.close();
  return exit;
}
