import { acceptHead } from '../audit/accept-head.js';
import { AuditKeys } from '../audit/audit-keys.js';
import { loadSettings } from '../config/load-settings.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run audit -- accept-head "<why>"

Accepts the audit trail as it is in the database, when it was put back to an earlier state on purpose: until then the
service says that it was. That it was accepted, and why, becomes an entry of the trail. The service may run meanwhile.`;

async function main(): Promise<void> {
  const [command, reason, ...rest] = process.argv.slice(2);
  if (command !== 'accept-head' || !reason?.trim() || rest.length > 0) throw new Error(USAGE);
  await withDatabase(loadSettings(), async ({ database: { dataSource }, keys }) =>
    acceptHead(dataSource, new AuditKeys(keys), reason),
  );
  say('The audit trail as it is was accepted.');
}

runCommand(main);
