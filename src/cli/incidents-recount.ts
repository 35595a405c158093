import { setTimeout as sleep } from 'node:timers/promises';
import { loadSettings } from '../platform/config/load-settings.js';
import { Statements } from '../platform/database/statements.js';
import { Transactions } from '../platform/database/transactions.js';
import { IncidentCounts } from '../incidents/counting/incident-counts.js';
import { IncidentCountsRepository } from '../incidents/counting/incident-counts.repository.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: node dist/cli/incidents-recount.js [--check]

Compares the counts of incidents with the incidents, and corrects them; with --check it only reports differences.
The service may be running.`;

const RETRY_MS = 100;

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg !== '--check')) throw new Error(USAGE);
  await withDatabase(loadSettings(), async ({ database: { dataSource } }) => {
    const counts = new IncidentCounts(
      new IncidentCountsRepository(new Statements(dataSource)),
      new Transactions(dataSource),
    );
    const differences = await counts.differences();
    for (const difference of differences) say(JSON.stringify(difference));
    if (differences.length === 0) return say('The counts are correct.');
    process.exitCode = args.includes('--check') ? 1 : 0;
    if (args.includes('--check')) return say(`${differences.length} counts are wrong.`);
    while (!(await counts.recount())) await sleep(RETRY_MS);
    say(`${differences.length} counts were wrong and are corrected.`);
  });
}

runCommand(main);
