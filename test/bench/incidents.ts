/* What the service costs: beside a bare baseline at 100 000 incidents, and its lists at 1 000 and at 1 000 000.
 *
 *   node --disable-warning=MODULE_TYPELESS_PACKAGE_JSON test/bench/incidents.ts      (after a build)
 *
 *   BENCH_DATABASE_URL  a PostgreSQL whose user may create databases; without it an embedded one is started
 *   BENCH_SECONDS (5), BENCH_ROUNDS (3), BENCH_ROWS (100000), BENCH_MANY (1000000), BENCH_DIST (dist)
 *   BENCH_PARTS (beside,lists)
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { besideBare, type Comparison } from './lib/beside-bare.ts';
import { listsBySize, type ListCost } from './lib/lists-by-size.ts';
import { run, startPostgres } from './lib/postgres.ts';
import { printComparisons, printListCosts } from './lib/report.ts';

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback);
const dist = resolve(process.env['BENCH_DIST'] ?? 'dist');
const parts = (process.env['BENCH_PARTS'] ?? 'beside,lists').split(',');
const plan = {
  dist,
  seconds: number('BENCH_SECONDS', 5),
  rounds: number('BENCH_ROUNDS', 3),
  rows: number('BENCH_ROWS', 100_000),
  many: number('BENCH_MANY', 1_000_000),
};

async function main(): Promise<void> {
  const server = await startPostgres(dist);
  try {
    const comparisons: Comparison[] = parts.includes('beside')
      ? await besideBare(server, plan)
      : [];
    if (comparisons.length > 0) printComparisons(comparisons);
    const lists: ListCost[] = parts.includes('lists') ? await listsBySize(server, plan) : [];
    if (lists.length > 0) printListCosts(lists);
    const [version] = await run(await server.createDatabase('bench_version'), 'select version()');
    const machine = {
      node: process.version,
      cpus: cpus().length,
      postgres: version?.['version'] as string,
    };
    mkdirSync('docs/bench', { recursive: true });
    const report = {
      at: new Date().toISOString(),
      machine,
      plan: { ...plan, dist: undefined },
      comparisons,
      lists,
    };
    writeFileSync('docs/bench/incidents.json', `${JSON.stringify(report, null, 2)}\n`);
  } finally {
    await server.stop();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
});
