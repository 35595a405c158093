import { setTimeout as sleep } from 'node:timers/promises';
import { schema } from '../app.schema.js';
import { loadSettings } from '../config/load-settings.js';
import { openDatabase } from '../database/open-database.js';
import { Statements } from '../database/statements.js';
import { Transactions } from '../database/transactions.js';
import { CountFold } from '../incidents/counting/count-fold.js';
import { CountsRepository } from '../incidents/counting/counts.repository.js';

const USAGE = `Usage: node dist/cli/incidents-recount.js [--check]

Compares the counts of incidents with the incidents, and counts them anew where they differ; with --check it only tells.
With an external database the service may run meanwhile; the embedded one it would have to share, so stop it first.`;

const RETRY_MS = 100;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg !== '--check')) throw new Error(USAGE);
  const database = await openDatabase(loadSettings(), schema, () => undefined);
  try {
    const { dataSource } = database;
    const counts = new CountFold(
      new CountsRepository(new Statements(dataSource)),
      new Transactions(dataSource),
    );
    const differences = await counts.differences();
    for (const difference of differences) say(JSON.stringify(difference));
    if (differences.length === 0) return say('The counts are right.');
    process.exitCode = args.includes('--check') ? 1 : 0;
    if (args.includes('--check')) return say(`${differences.length} counts are wrong.`);
    while (!(await counts.recount())) await sleep(RETRY_MS);
    say(`${differences.length} counts were wrong; all are counted anew.`);
  } finally {
    await database.close();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
