// SQL: an advisory lock.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../platform/files.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import { AuditLog } from '../../audit/audit-log.js';
import { newId } from '../../platform/ids.js';
import { SettingError } from '../../platform/config/load-settings.js';
import { Settings } from '../../platform/config/settings.js';
import { ApiKeyEntity } from '../keys/api-key.entity.js';
import { ApiKeysService } from '../keys/api-keys.service.js';
import { createKey, readKey } from '../keys/key-format.js';
import { weaknessOf } from '../passwords/password-requirements.js';
import { Passwords, hashPassword } from '../passwords/passwords.js';
import { UserEntity, userEntry } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import type { DataSource } from 'typeorm';
import { WeakPasswordError } from '../auth.errors.js';
import { SessionEntity } from '../sessions/session.entity.js';

const BOOTSTRAP_USER = 'admin';
const BOOTSTRAP_KEY = 'bootstrap-admin';

const DETAILS = { role: 'admin', reason: 'first start' };
const PASSWORD_BYTES = 18;

/** Creates the first user and the first API key. Existing users and keys are never changed. */
@Injectable()
export class Bootstrap implements OnModuleInit {
  private readonly embedded: boolean;

  constructor(
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly keys: ApiKeysService,
    private readonly passwords: Passwords,
    private readonly audit: AuditLog,
  ) {
    this.embedded = settings.databaseUrl === undefined;
  }

  async onModuleInit(): Promise<void> {
    const { bootstrapAdminApiKey, bootstrapAdminPassword, dataDir } = this.settings;
    if (!this.embedded && !bootstrapAdminApiKey && !bootstrapAdminPassword) return;
    await this.transactions.run(async (tx) => {
      // Replicas that start at the same time wait here. Later replicas find the user and key of the first replica.
      await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.Bootstrap})`);
      const password = await this.makeUser(tx);
      const api_key = await this.makeKey(tx);
      if (!this.embedded || (password ?? api_key) === undefined) return;
      // Before the commit: if the file cannot be written, the credentials must not exist, because nobody would know
      // them.
      await mkdir(dataDir, { recursive: true });
      const credentials = { username: BOOTSTRAP_USER, password, api_key };
      const content = `${JSON.stringify(credentials, null, 2)}\n`;
      await writeWhole(credentialsFileIn(dataDir), content, OWNER_ONLY);
    });
  }

  private async makeUser(tx: Tx): Promise<string | undefined> {
    const given = this.settings.bootstrapAdminPassword;
    if (!given && !this.embedded) return undefined;
    // Deleted users also count.
    const taken = given ? { username: BOOTSTRAP_USER } : {};
    if (await tx.getRepository(UserEntity).existsBy(taken)) return undefined;
    // Checked only if the password is used: a weak password in an unused setting does no harm.
    const weakness = given && (await weaknessOf(given, BOOTSTRAP_USER));
    if (weakness) throw new SettingError(`BOOTSTRAP_ADMIN_PASSWORD ${weakness}.`);
    const password = given ?? randomBytes(PASSWORD_BYTES).toString('base64url');
    await this.users.insertIfNew(tx, {
      id: newId(),
      username: BOOTSTRAP_USER,
      role: 'admin',
      enabled: true,
      password_hash: await this.passwords.hash(password),
      password_made_up: !given,
    });
    await this.audit.record(tx, userEntry('system', 'user.created', BOOTSTRAP_USER, DETAILS));
    return password;
  }

  private async makeKey(tx: Tx): Promise<string | undefined> {
    const given = this.settings.bootstrapAdminApiKey;
    const exists = !given && (!this.embedded || (await tx.getRepository(ApiKeyEntity).exists()));
    if (exists) return undefined;
    const { key, prefix, hash } = (given ? readKey(given) : undefined) ?? createKey();
    const id = newId();
    const created = await this.keys.insertIfNew(tx, {
      id,
      name: BOOTSTRAP_KEY,
      role: 'admin',
      prefix,
      secret_hash: hash,
      created_by: 'system',
    });
    if (!created) return undefined;
    await this.audit.record(tx, {
      actor: 'system',
      action: 'api_key.created',
      subject: { type: 'api_key', id },
      details: DETAILS,
    });
    return key;
  }
}

const OWNER_ONLY = 0o600;

const credentialsFileIn = (dataDir: string): string => join(dataDir, 'bootstrap-credentials.json');

/**
 * Reports who can log in, and reminds people to change the generated password of the first start, because that
 * password is stored in a file. `/health` shows the reminder and stays healthy.
 */
@Injectable()
export class WhoCanLogIn implements OnModuleInit {
  constructor(
    private readonly users: UsersRepository,
    private readonly settings: Settings,
    private readonly components: HealthComponents,
  ) {}

  onModuleInit(): void {
    this.components.register('access', () => this.health());
  }

  async hasGeneratedPassword(username: string): Promise<boolean> {
    return (await this.users.namesWithMadeUpPassword()).includes(username);
  }

  /** Start message: existing users, and the location of the first password. */
  async inWords(): Promise<string> {
    const holders = await this.users.namesWithMadeUpPassword();
    const path = credentialsFileIn(this.settings.dataDir);
    if (holders.length > 0) {
      const where = existsSync(path) ? `in ${path}` : 'that was generated at the first start';
      return `${holders.join(', ')}, with the password ${where}; change it at /login/password`;
    }
    const users = await this.users.countEnabled();
    if (users === 0) return 'nobody yet: npm run create-admin -- <name> creates an admin';
    return users === 1 ? 'one user' : `${users} users`;
  }

  private async health(): Promise<ComponentHealth> {
    const holders = await this.users.namesWithMadeUpPassword();
    const inUse = { status: 'healthy', made_up_password: holders.length > 0 } as const;
    if (holders.length === 0) return inUse;
    const message = `The generated password of ${holders.join(', ')} from the first start is still in use. Change it at /login/password.`;
    return { ...inUse, message };
  }
}

/**
 * Creates an admin, or makes an existing user an enabled admin, for an operator who cannot log in. Returns
 * `undefined` if the name belonged to a deleted user, because names are never reused.
 */
export async function ensureAdmin(
  dataSource: DataSource,
  audit: AuditLog,
  username: string,
  password: string,
): Promise<'created' | 'reset' | undefined> {
  const weakness = await weaknessOf(password, username);
  if (weakness !== undefined) throw new WeakPasswordError('The password', weakness);
  const password_hash = await hashPassword(password);
  const users = new UsersRepository(dataSource);
  return await new Transactions(dataSource).run(async (tx) => {
    const access = { role: 'admin', enabled: true, password_hash } as const;
    const created = await users.insertIfNew(tx, { id: newId(), username, ...access });
    if (!created) {
      const user = await users.update(tx, { username }, access);
      if (!user) return undefined;
      await tx.getRepository(SessionEntity).delete({ user_id: user.id });
    }
    const action = created ? 'user.created' : 'user.updated';
    const reason = 'create-admin command';
    const details = { role: 'admin', enabled: true, password: 'set', reason };
    await audit.record(tx, userEntry('system', action, username, details));
    return created ? 'created' : 'reset';
  });
}
