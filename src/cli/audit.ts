import type { DataSource } from 'typeorm';
import { acceptHead } from '../audit/anchor/accept-head.js';
import { AuditKeys } from '../audit/chain/audit-keys.js';
import { faultOfLine } from '../audit/anchor/logged-head.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run audit -- accept-head "<why>"
       npm run audit -- check-head "<line of the log>"

accept-head accepts the audit trail as it is in the database, when it was put back to an earlier state on purpose: until
then the service says that it was. That it was accepted, and why, becomes an entry of the trail.

check-head says whether the service wrote this line ("The audit chain ends at …"), and whether the trail still leads
through where it ended then. A line that an older key signed needs that key behind the others in SECRETS_KEY.

The service may run meanwhile.`;

async function main(): Promise<void> {
  const [command, text, ...rest] = process.argv.slice(2);
  const run = { 'accept-head': accept, 'check-head': check }[command ?? ''];
  if (!run || !text?.trim() || rest.length > 0) throw new Error(USAGE);
  await withDatabase(loadSettings(), ({ database: { dataSource }, keys }) =>
    run(dataSource, new AuditKeys(keys), text),
  );
}

async function accept(dataSource: DataSource, keys: AuditKeys, reason: string): Promise<void> {
  await acceptHead(dataSource, keys, reason);
  say('The audit trail as it is was accepted.');
}

async function check(dataSource: DataSource, keys: AuditKeys, line: string): Promise<void> {
  const fault = await faultOfLine(dataSource.manager, keys, line);
  if (fault !== undefined) throw new Error(fault);
  say('The service wrote this line, and the audit trail leads through where it ended then.');
}

runCommand(main);
