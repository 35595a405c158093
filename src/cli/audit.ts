import { acceptHead } from '../audit/chain/audit-witness.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run audit -- accept-head "<reason>"

accept-head accepts the audit trail as it is in the database, after it was set back to an earlier state on purpose. Until
then the service reports it. The acceptance and its reason become an entry of the trail.

The service may be running.`;

async function main(): Promise<void> {
  const [command, reason, ...rest] = process.argv.slice(2);
  if (command !== 'accept-head' || !reason?.trim() || rest.length > 0) throw new Error(USAGE);
  await withDatabase(loadSettings(), ({ database: { dataSource }, keys }) =>
    acceptHead(dataSource, new AuditKeys(keys), reason),
  );
  say('The audit trail as it is was accepted.');
}

runCommand(main);
