/* Measures the service beside a bare baseline at 100 000 incidents (get, list, create, webhook receipt, action), and the
 * whole flow from a signed event to the last notification. A wrong answer ends the run.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/run.ts      (after a build)
 *
 *   BENCH_DATABASE_URL  a PostgreSQL whose user may create databases; without it an embedded one is started
 *   BENCH_EVENTS (2000), BENCH_RATE (100) for the flow
 *   BENCH_SECONDS (5), BENCH_ROUNDS (3), BENCH_ROWS (100000), BENCH_DIST (dist)
 *   BENCH_NODE_OPTIONS  for the service, such as `--cpu-prof --cpu-prof-dir=/tmp/profile`
 *   BENCH_PARTS (beside,webhooks,actions,flow), BENCH_REPORT (docs/bench/run.json)
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { actionShots } from './lib/action-shots.ts';
import { besideBare, type ShotsFor } from './lib/beside-bare.ts';
import { runToEnd } from './lib/cleanup.ts';
import { type FlowCost, flowCost } from './lib/flow.ts';
import type { Comparison } from './lib/in-turns.ts';
import { incidentShots } from './lib/incident-shots.ts';
import { startPostgres } from './lib/postgres.ts';
import { receiptShots } from './lib/receipt-shots.ts';
import { printComparisons, printFlowCost } from './lib/report.ts';

const text = (name: string, fallback: string): string => process.env[name] ?? fallback;
const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const dist = resolve(text('BENCH_DIST', 'dist'));
const parts = text('BENCH_PARTS', 'beside,webhooks,actions,flow').split(',');
const plan = {
  seconds: number('BENCH_SECONDS', 5),
  rounds: number('BENCH_ROUNDS', 3),
  rows: number('BENCH_ROWS', 100_000),
};

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

  const comparisons: Comparison[] = [];
  const compare = async (shotsFor: ShotsFor): Promise<void> => {
    const made = await besideBare(server, { ...plan, dist }, shotsFor);
    printComparisons(made);
    comparisons.push(...made);
  };
  if (parts.includes('beside')) await compare(incidentShots);
  if (parts.includes('webhooks')) await compare(receiptShots);
  if (parts.includes('actions')) await compare(actionShots);
  let flow: FlowCost | undefined;
  if (parts.includes('flow')) {
    flow = await flowCost(server, {
      dist,
      events: number('BENCH_EVENTS', 2_000),
      rate: number('BENCH_RATE', 100),
    });
    printFlowCost(flow);
  }

  const report = {
    at: new Date().toISOString(),
    machine: { ...machine, postgres: server.version },
    plan: { ...plan, parts },
    comparisons,
    flow,
  };
  const file = text('BENCH_REPORT', 'docs/bench/run.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

runToEnd(main);
