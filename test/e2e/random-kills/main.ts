/**
 * Kills a daemon under load as often as it is told to, and says whether a promise was broken:
 *
 *     npx tsx test/e2e/random-kills/main.ts --kills 500 --sessions 6 --sockets 6 --seed 1
 *
 * It needs the built program. It prints a line for every tenth kill and a summary; it ends with 1 after a finding.
 */
import { parseArgs } from 'node:util';
import { runCampaign } from './campaign.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    sessions: { type: 'string', default: '6' },
    sockets: { type: 'string', default: '6' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

const startedMs = performance.now();
const seconds = (): string => ((performance.now() - startedMs) / 1000).toFixed(0);
process.stdout.write(`seed ${values.seed}\n`);

const summary = await runCampaign({
  kills: Number(values.kills),
  seed: Number(values.seed),
  sessions: Number(values.sessions),
  sockets: Number(values.sockets),
  auditEvery: 10,
  onKill: ({ number, calls }) => {
    if (number % 10 === 0) process.stdout.write(`${seconds()} s: ${String(number)} kills, ${String(calls)} calls\n`);
  },
});

const outcomes = new Map<string, number>();
for (const { outcome, failure } of summary.rows.admissions) {
  const reason = failure === null ? '' : `: ${String((JSON.parse(failure) as { readonly reason: unknown }).reason)}`;
  const end = `${String(outcome)}${reason}`;
  outcomes.set(end, (outcomes.get(end) ?? 0) + 1);
}
const compressions = summary.rows.compressions.filter(({ status }) => status === 'completed').length;
process.stdout.write(
  `${String(summary.kills)} kills (${String(summary.killsWhileStarting)} while starting) in ${seconds()} s, ` +
    `${String(summary.calls)} calls, ${String(summary.rows.admissions.length)} admissions ` +
    `(${[...outcomes].map(([outcome, count]) => `${String(count)} ${outcome}`).join(', ')}), ` +
    `${String(compressions)} compressions, ${String(summary.witness.requests.length)} model requests, ` +
    `${String(summary.findings.length)} findings\n`,
);
for (const finding of summary.findings.slice(0, 50)) process.stdout.write(`  ${finding}\n`);
process.exitCode = summary.findings.length === 0 ? 0 : 1;
