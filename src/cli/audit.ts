import type { DataSource } from 'typeorm';
import { acceptHead, faultOfLine } from '../audit/anchor/audit-witness.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { loadSettings } from '../platform/config/load-settings.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run audit -- accept-head "<reason>"
       npm run audit -- check-head "<line of the log>"

accept-head accepts the audit trail as it is in the database, after it was set back to an earlier state on purpose. Until
then the service reports it. The acceptance and its reason become an entry of the trail.

check-head tells whether the service wrote this line ("The audit chain ends at …"), and whether the trail still contains
that end. A line that an older key signed needs that key behind the others in SECRETS_KEY.

The service may be running.`;

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
  say('The service wrote this line, and the audit trail still contains that end.');
}

runCommand(main);
