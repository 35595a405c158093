/* Measures the service beside a bare baseline at 100 000 incidents (get, list, create, webhook receipt, action), and the
 * whole flow from a signed event to the last notification. A wrong response ends the run.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/run.ts      (after a build)
 *
 *   BENCH_DATABASE_URL  a PostgreSQL whose user may create databases; without it, an embedded server is started
 *   BENCH_EVENTS (2000), BENCH_RATE (100) for the flow
 *   BENCH_SECONDS (5), BENCH_ROUNDS (3), BENCH_ROWS (100000), BENCH_DIST (dist)
 *   BENCH_NODE_OPTIONS  for the service, such as `--cpu-prof --cpu-prof-dir=/tmp/profile`
 *   BENCH_PARTS (beside,webhooks,actions,flow), BENCH_REPORT (docs/bench/run.json)
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname, resolve } from 'node:path';
import { besideBare, type Comparison, PARTS } from './lib/comparisons.ts';
import { type FlowCost, flowCost, STAGES } from './lib/flow.ts';
import { runToEnd, startPostgres } from './lib/processes.ts';

const text = (name: string, fallback: string): string => process.env[name] ?? fallback;
const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const dist = resolve(text('BENCH_DIST', 'dist'));
const parts = text('BENCH_PARTS', 'beside,webhooks,actions,flow').split(',');
const plan = {
  seconds: number('BENCH_SECONDS', 5),
  rounds: number('BENCH_ROUNDS', 3),
  rows: number('BENCH_ROWS', 100_000),
};

void runToEnd(async () => {
  const machine = {
    node: process.version,
    processors: cpus().length,
    model: cpus()[0]?.model,
    load_at_start: loadavg(),
  };
  print('processors; load at the start', machine.processors, ...machine.load_at_start);
  const server = await startPostgres(dist);
  const comparisons: Comparison[] = [];
  for (const part of parts.filter((name) => name in PARTS)) {
    const made = await besideBare(server, { ...plan, dist }, part);
    printComparisons(made);
    comparisons.push(...made);
  }
  let flow: FlowCost | undefined;
  if (parts.includes('flow')) {
    const [events, rate] = [number('BENCH_EVENTS', 2_000), number('BENCH_RATE', 100)];
    flow = await flowCost(server, { dist, events, rate });
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
});

function printComparisons(comparisons: readonly Comparison[]): void {
  const head = ['p99 ms', 'bare', 'ratio', 'p50 ms', 'bare', 'ratio', 'req/s', 'bare', 'ratio'];
  print('beside the bare baseline', ...head, 'goal');
  for (const { what, service, bare, ratio, goal } of comparisons) {
    const figures = (['p99', 'p50', 'perSecond'] as const).flatMap((name) => [
      service[name],
      bare[name],
      ratio[name],
    ]);
    print(what, ...figures, ...(goal === undefined ? [] : [`>= ${goal}`]));
  }
  print('processor us per request', 'service', 'its PG', 'bare', 'its PG', 'sending');
  for (const { what, service, bare } of comparisons) {
    const times = [service, bare].flatMap(({ processor: { server, postgres } }) => [
      server,
      postgres,
    ]);
    print(what, ...times, service.processor.generator);
  }
}

function printFlowCost({ perSecond, alone, steady, ...cost }: FlowCost): void {
  print('the whole flow', 'a second', 'alone p50', 'alone p95', 'steady p50', 'steady p95');
  for (const stage of STAGES) {
    const times = [alone[stage], steady[stage]].flatMap(({ p50, p95 }) => [p50, p95]);
    print(`to ${stage}`, perSecond[stage], ...times);
  }
  print('for each event', 'statements', 'commits', 'ms', 'its PG ms', 'MB at end');
  const { service, postgres } = cost.processorMs;
  print('', cost.statements, cost.commits, service, postgres, cost.megabytes);
  for (const [name, count] of cost.most) print(`  ${name.slice(0, 90)}`.padEnd(94), count);
}

function print(first: string, ...cells: readonly (string | number)[]): void {
  const shown = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : cell));
  process.stdout.write(
    `${[first.padEnd(50), ...shown.map((cell) => cell.padStart(11))].join('')}\n`,
  );
}
