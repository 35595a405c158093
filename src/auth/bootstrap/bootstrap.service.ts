import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { newId } from '../../platform/ids.js';
import { SettingError } from '../../platform/config/load-settings.js';
import { Settings } from '../../platform/config/settings.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { ApiKeysRepository } from '../keys/api-keys.repository.js';
import { createKey, readKey } from '../keys/key-format.js';
import { weaknessOf } from '../passwords/password-requirements.js';
import { Passwords } from '../passwords/passwords.js';
import { UsersRepository } from '../users/users.repository.js';
import { BootstrapRepository } from './bootstrap.repository.js';

export const BOOTSTRAP_USER = 'admin';
export const BOOTSTRAP_KEY = 'bootstrap-admin';

const PASSWORD_BYTES = 18;

/** Makes the first user and the first API key. A user or key that exists already is never changed. */
@Injectable()
export class Bootstrap implements OnModuleInit {
  private readonly embedded: boolean;

  constructor(
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly repository: BootstrapRepository,
    private readonly users: UsersRepository,
    private readonly keys: ApiKeysRepository,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
  ) {
    this.embedded = settings.databaseUrl === undefined;
  }

  async onModuleInit(): Promise<void> {
    const { bootstrapAdminApiKey, bootstrapAdminPassword } = this.settings;
    if (!this.embedded && !bootstrapAdminApiKey && !bootstrapAdminPassword) return;
    await this.transactions.run(async (tx) => {
      const credentials = await this.make(tx);
      // Before the commit: when the file cannot be written, nobody would know the credentials, so they must not exist.
      if (credentials && this.embedded) writeCredentials(this.settings.dataDir, credentials);
    });
  }

  private async make(tx: Tx): Promise<Credentials | undefined> {
    await this.repository.lock(tx);
    const password = await this.makeUser(tx);
    const key = await this.makeKey(tx);
    if (password === undefined && key === undefined) return undefined;
    return { username: BOOTSTRAP_USER, password, api_key: key };
  }

  private async makeUser(tx: Tx): Promise<string | undefined> {
    const given = this.settings.bootstrapAdminPassword;
    const wanted = given
      ? !(await this.users.isNameTaken(tx, BOOTSTRAP_USER))
      : this.embedded && !(await this.users.hasAny(tx));
    if (!wanted) return undefined;
    const password = given ?? randomBytes(PASSWORD_BYTES).toString('base64url');
    if (given) await requireStrong(given);
    const created = await this.users.insertIfNew(tx, {
      id: newId(),
      username: BOOTSTRAP_USER,
      role: 'admin',
      enabled: true,
      password_hash: await this.passwords.hash(password),
      password_made_up: !given,
    });
    if (!created) return undefined;
    await this.record(tx, 'user.created', { type: 'user', id: BOOTSTRAP_USER });
    return password;
  }

  private async makeKey(tx: Tx): Promise<string | undefined> {
    const given = this.settings.bootstrapAdminApiKey;
    if (!given && !(this.embedded && !(await this.keys.hasAny(tx)))) return undefined;
    const { key, prefix, hash } = (given ? readKey(given) : undefined) ?? createKey();
    const id = newId();
    const created = await this.keys.insertIfNew(tx, {
      id,
      name: BOOTSTRAP_KEY,
      role: 'admin',
      prefix,
      secret_hash: hash,
      limits: {},
      created_by: 'system',
    });
    if (!created) return undefined;
    await this.record(tx, 'api_key.created', { type: 'api_key', id });
    return key;
  }

  private async record(
    tx: Tx,
    action: 'user.created' | 'api_key.created',
    subject: { type: string; id: string },
  ): Promise<void> {
    const details = { role: 'admin', reason: 'first start' };
    await this.audit.record(tx, { actor: 'system', action, subject, details });
  }
}

/** Only called when the user is about to be made: later the setting is not used, so a weak one does no harm. */
async function requireStrong(password: string): Promise<void> {
  const weakness = await weaknessOf(password, BOOTSTRAP_USER);
  if (weakness !== undefined) throw new SettingError(`BOOTSTRAP_ADMIN_PASSWORD ${weakness}.`);
}

export interface Credentials {
  readonly username: string;
  readonly password?: string;
  readonly api_key?: string;
}

const OWNER_ONLY = 0o600;

export const credentialsFileIn = (dataDir: string): string =>
  join(dataDir, 'bootstrap-credentials.json');

/** Writes a whole file or none, which nobody but the owner can read at any moment. Answers its path. */
export function writeCredentials(dataDir: string, credentials: Credentials): string {
  mkdirSync(dataDir, { recursive: true });
  const path = credentialsFileIn(dataDir);
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  const file = openSync(draft, 'wx', OWNER_ONLY);
  try {
    writeFileSync(file, `${JSON.stringify(credentials, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  return path;
}
