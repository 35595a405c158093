import { createReadStream } from 'node:fs';
import { acceptHead } from '../audit/chain/audit-witness.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { ExportCheck, type ExportFindings } from '../audit/audit-export.js';
import { loadSettings } from '../platform/config/settings.js';
import { linesOf } from '../platform/files.js';
import { givenSecretKeys } from '../platform/secrets/secret-keys.js';
import { runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run audit -- accept-head "<reason>"
       npm run audit:verify -- <file>

accept-head accepts the audit trail as it is in the database, after it was set back to an earlier state on purpose. Until
then the service reports the earlier state. The acceptance and its reason become an entry of the trail. The service may be running.

verify checks a file of GET /api/audit/export with SECRETS_KEY (or DATA_DIR/secrets.key), without service and database.`;

async function main(): Promise<void> {
  const [command, argument, ...rest] = process.argv.slice(2);
  if (!argument?.trim() || rest.length > 0) throw new Error(USAGE);
  if (command === 'verify') return await verify(argument);
  if (command !== 'accept-head') throw new Error(USAGE);
  await withDatabase(loadSettings(), ({ dataSource, keys }) =>
    acceptHead(dataSource, new AuditKeys(keys), argument),
  );
  say('The audit trail was accepted in its current state.');
}

async function verify(file: string): Promise<void> {
  const check = new ExportCheck(loadKeys());
  for await (const line of linesOf(createReadStream(file, 'utf8'))) check.add(line);
  const findings = check.finish();
  say(reportOf(findings).join('\n'));
  process.exitCode = findings.valid ? 0 : 1;
}

/** Uses the key file even if DATABASE_URL is set, because the command reads no database. Never generates a key. */
function loadKeys(): AuditKeys {
  const { source, keys } = givenSecretKeys({ ...loadSettings(), databaseUrl: undefined });
  if (keys) return new AuditKeys(keys);
  throw new Error(`SECRETS_KEY is required, because ${source} does not exist.`);
}

function reportOf({ valid, sealed, unsealed, faults, header }: ExportFindings): string[] {
  if (!valid || !header) return ['The export is NOT as the service wrote it:', ...faults];
  const { previous, last_seq, head, at } = header;
  return [
    `The export is as the service wrote it at ${at}: ${sealed} sealed entries (seals ${BigInt(previous.seq) + 1n} to ${last_seq}) and ${unsealed} that were not sealed yet.`,
    'The file alone does not show:',
    `- whether the chain up to seal ${previous.seq} was complete: see GET /api/audit/verify, or export from the beginning`,
    `- whether the chain had been set back before: it then ended at ${head.seq} ${head.hash}; a later end in AUDIT_ANCHOR_FILE of before ${at} proves it`,
    '- whether entries were removed within about a second of their commit, before they were sealed',
  ];
}

runCommand(main);
