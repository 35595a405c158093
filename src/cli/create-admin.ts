import { text } from 'node:stream/consumers';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { logOfCommand } from '../audit/audit-log.js';
import { ensureAdmin } from '../auth/bootstrap.js';
import { generatePassword, hasPermittedLength } from '../auth/passwords.js';
import { isUsername } from '../auth/auth.entity.js';
import { loadSettings } from '../platform/config/settings.js';
import { readArgument, runCommand, say, withDatabase } from './command.js';

const USAGE = `Usage: npm run create-admin -- <user name> [--password-stdin]

Creates an admin, or gives an existing user the role admin, a new password and access again, and ends its sessions.
The password is read from the standard input, or generated and printed.`;

async function main(): Promise<void> {
  const { argument: username, options } = readArgument(USAGE, 'password-stdin');
  const readsPassword = options['password-stdin'];
  if (!isUsername(username)) {
    throw new Error('A user name is 2 to 63 lower-case letters, digits or ._@-, and not system.');
  }
  const password = readsPassword
    ? (await text(process.stdin)).replace(/\r?\n$/, '')
    : generatePassword();
  if (!hasPermittedLength(password)) throw new Error('The password must be 12 to 256 characters.');
  const outcome = await withDatabase(loadSettings(), ({ dataSource, keys }) =>
    ensureAdmin(dataSource, logOfCommand(dataSource, new AuditKeys(keys)), username, password),
  );
  if (!outcome) throw new Error(`${username} was deleted, and names are never reused.`);
  const made = readsPassword ? '' : ` Its password is ${password}`;
  say(`The admin ${username} was ${outcome}.${made}`);
}

runCommand(main);
