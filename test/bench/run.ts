/* Measures the whole flow from a signed event to the last notification. A wrong answer ends the run.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/run.ts      (after a build)
 *
 *   BENCH_DATABASE_URL  a PostgreSQL whose user may create databases; without it an embedded one is started
 *   BENCH_EVENTS (2000), BENCH_RATE (100), BENCH_DIST (dist), BENCH_REPORT (docs/bench/run.json)
 *   BENCH_NODE_OPTIONS  for the service, such as `--cpu-prof --cpu-prof-dir=/tmp/profile`
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { cleanUp, cleanUpOnSignals } from './lib/cleanup.ts';
import { type FlowCost, flowCost, STAGES } from './lib/flow.ts';
import { startPostgres } from './lib/postgres.ts';

const text = (name: string, fallback: string): string => process.env[name] ?? fallback;
const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const dist = resolve(text('BENCH_DIST', 'dist'));

async function main(): Promise<void> {
  const machine = {
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model,
    load_at_start: loadavg(),
  };
  const load = machine.load_at_start.map((average) => average.toFixed(2)).join(' ');
  process.stdout.write(`${machine.processors} processors; load at the start: ${load}\n`);
  const server = await startPostgres(dist);
  const plan = { events: number('BENCH_EVENTS', 2_000), rate: number('BENCH_RATE', 100) };
  const flow = await flowCost(server, { dist, ...plan });
  print(flow);
  const report = {
    at: new Date().toISOString(),
    machine: { ...machine, postgres: server.version },
    plan,
    flow,
  };
  const file = text('BENCH_REPORT', 'docs/bench/run.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

function print({ perSecond, alone, steady, ...cost }: FlowCost): void {
  const line = (first: string, ...cells: (string | number | undefined)[]) => {
    const shown = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : (cell ?? '')));
    const columns = shown.map((cell) => cell.padStart(12)).join('');
    process.stdout.write(`${first.padEnd(36)}${columns}\n`);
  };
  line('the whole flow', 'a second', 'alone p50', 'alone p95', 'steady p50', 'steady p95');
  for (const stage of STAGES) {
    const times = [alone[stage].p50, alone[stage].p95, steady[stage].p50, steady[stage].p95];
    line(`to ${stage}`, perSecond[stage], ...times.map((ms) => ms.toFixed(0)));
  }
  line('for each event', 'statements', 'commits', 'ms', 'its PG ms', 'MB at end');
  const { service, postgres } = cost.processorMs;
  line('', cost.statements, cost.commits, service, postgres, cost.megabytes.toFixed(0));
  for (const [name, count] of cost.most) line(`  ${name.slice(0, 90)}`.padEnd(94), count);
}

function fail(error: unknown): void {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}

cleanUpOnSignals();
main().catch(fail).finally(cleanUp).catch(fail);
