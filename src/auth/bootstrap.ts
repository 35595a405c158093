// SQL: takes an advisory lock.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DataSource, IsNull } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { Settings } from '../platform/config/settings.js';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { type Tx, Transactions } from '../platform/database/transactions.js';
import { writeWhole } from '../platform/files.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { ApiKeyEntity, UserEntity } from './auth.entity.js';
import { generatePassword, hashPassword, requireStrong } from './passwords.js';
import {
  changeUser,
  endSessionsOf,
  insertIfNew,
  insertKeyIfNew,
  userEntry,
} from './accounts.service.js';

const BOOTSTRAP_USER = 'admin';
const BOOTSTRAP_KEY = 'bootstrap-admin';
const FIRST_START = 'first start';

/** Creates the first user and key, but changes no existing ones. Reminds people to change the generated password. */
@Injectable()
export class Bootstrap implements OnModuleInit {
  private readonly embedded: boolean;
  private readonly credentialsFile: string;

  constructor(
    private readonly settings: Settings,
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly components: HealthComponents,
  ) {
    this.embedded = settings.databaseUrl === undefined;
    this.credentialsFile = join(settings.dataDir, 'bootstrap-credentials.json');
  }

  async onModuleInit(): Promise<void> {
    this.components.register('access', () => this.health());
    const { bootstrapAdminApiKey, bootstrapAdminPassword, dataDir } = this.settings;
    if (!this.embedded && !bootstrapAdminApiKey && !bootstrapAdminPassword) return;
    await this.transactions.run(async (tx) => {
      // Replicas that start together wait here, and then find the user and the key of the first replica.
      await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.Bootstrap})`);
      const password = await this.makeUser(tx);
      const api_key = await this.makeKey(tx);
      if (!this.embedded || (password ?? api_key) === undefined) return;
      // Writes the file before the commit: if the file cannot be written, nobody would know the credentials.
      await mkdir(dataDir, { recursive: true });
      const content = JSON.stringify({ username: BOOTSTRAP_USER, password, api_key }, null, 2);
      await writeWhole(this.credentialsFile, `${content}\n`);
    });
  }

  private async makeUser(tx: Tx): Promise<string | undefined> {
    const given = this.settings.bootstrapAdminPassword;
    if (!given && !this.embedded) return undefined;
    // Deleted users count as existing.
    const taken = given ? { username: BOOTSTRAP_USER } : {};
    if (await tx.getRepository(UserEntity).existsBy(taken)) return undefined;
    // Checks the password only if it is used: a weak password in an unused setting does no harm.
    if (given) await requireStrong(given, BOOTSTRAP_USER, 'BOOTSTRAP_ADMIN_PASSWORD');
    const password = given ?? generatePassword();
    await insertIfNew(tx, UserEntity, {
      username: BOOTSTRAP_USER,
      role: 'admin',
      enabled: true,
      password_hash: await hashPassword(password),
      password_made_up: !given,
    });
    const details = { role: 'admin', reason: FIRST_START };
    await this.audit.record(tx, userEntry('system', 'user.created', BOOTSTRAP_USER, details));
    return password;
  }

  private async makeKey(tx: Tx): Promise<string | undefined> {
    const given = this.settings.bootstrapAdminApiKey;
    const exists = !given && (!this.embedded || (await tx.getRepository(ApiKeyEntity).exists()));
    if (exists) return undefined;
    const wanted = { name: BOOTSTRAP_KEY, role: 'admin' } as const;
    const more = { given, reason: FIRST_START };
    return (await insertKeyIfNew(tx, this.audit, { name: 'system' }, wanted, more))?.key;
  }

  async whoCanLogIn(): Promise<string> {
    if (await this.usesGeneratedPassword()) {
      const path = this.credentialsFile;
      const where = existsSync(path) ? `in ${path}` : 'that was generated at the first start';
      return `${BOOTSTRAP_USER}, with the password ${where}; change it at /login/password`;
    }
    const enabled = { enabled: true, deleted_at: IsNull() };
    const users = await this.dataSource.getRepository(UserEntity).countBy(enabled);
    if (users === 0) return 'nobody yet: npm run create-admin -- <name> creates an admin';
    return users === 1 ? 'one user' : `${users} users`;
  }

  private async health(): Promise<ComponentHealth> {
    const made_up_password = await this.usesGeneratedPassword();
    return {
      status: 'healthy',
      made_up_password,
      message: made_up_password
        ? `The generated password of ${BOOTSTRAP_USER} from the first start is still in use. Change it at /login/password.`
        : undefined,
    };
  }

  private async usesGeneratedPassword(): Promise<boolean> {
    const where = { password_made_up: true, enabled: true, deleted_at: IsNull() };
    return await this.dataSource.getRepository(UserEntity).existsBy(where);
  }
}

/** Creates an admin, or resets a user to an admin. Returns `undefined` for a deleted user: names are never reused. */
export async function ensureAdmin(
  dataSource: DataSource,
  audit: AuditLog,
  username: string,
  password: string,
): Promise<'created' | 'reset' | undefined> {
  await requireStrong(password, username, 'The password');
  const password_hash = await hashPassword(password);
  return await new Transactions(dataSource).run(async (tx) => {
    const access = { role: 'admin', enabled: true, password_hash } as const;
    const created = await insertIfNew(tx, UserEntity, { username, ...access });
    if (!created) {
      const user = await changeUser(tx, { username }, access);
      if (!user) return undefined;
      await endSessionsOf(tx, user.id);
    }
    const action = created ? 'user.created' : 'user.updated';
    const reason = 'create-admin command';
    const details = { role: 'admin', enabled: true, password: 'set', reason };
    await audit.record(tx, userEntry('system', action, username, details));
    return created ? 'created' : 'reset';
  });
}
