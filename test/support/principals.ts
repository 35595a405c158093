import { DataSource } from 'typeorm';
import type { Role } from '../../src/platform/access/roles.js';
import { newId } from '../../src/platform/ids.js';
import { createKey } from '../../src/auth/credentials.js';
import { hashPassword } from '../../src/auth/passwords.js';
import type { ApiClient } from './api-client.js';
import type { TestApp } from './test-app.js';

export interface TestKey {
  readonly id: string;
  /** Name of the principal in records. */
  readonly name: string;
  readonly key: string;
  readonly prefix: string;
  readonly client: ApiClient;
}

export interface TestUser {
  readonly id: string;
  readonly name: string;
  readonly password: string;
}

export interface KeyOptions {
  readonly name?: string;
  readonly expiresAt?: Date;
  readonly limits?: { readonly read?: number; readonly write?: number; readonly triage?: number };
}

type Somewhere = Pick<TestApp, 'nest' | 'client'>;

/** A client with a new key of the role: `const analyst = await as(app, 'analyst')`. */
export async function as(app: Somewhere, role: Role): Promise<ApiClient> {
  return (await makeKey(app, role)).client;
}

/** Inserts a new key of the role directly into the database. */
export async function makeKey(
  app: Somewhere,
  role: Role,
  options: KeyOptions = {},
): Promise<TestKey> {
  const { key, prefix, hash } = createKey();
  const id = newId();
  const name = options.name ?? `${role}-${prefix}`;
  await app.nest.get(DataSource).query(
    `insert into api_keys
       (id, name, role, prefix, secret_hash, limits, created_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, 'test', $7)`,
    [id, name, role, prefix, hash, options.limits ?? null, options.expiresAt ?? null],
  );
  const client = app.client.with({ authorization: `Bearer ${key}` });
  return { id, name: `key:${name}`, key, prefix, client };
}

const PASSWORD = 'a password for tests';
let passwordHash: Promise<string> | undefined;

/** Inserts a new user of the role directly into the database. The password hash is computed once. */
export async function makeUser(app: Somewhere, role: Role, name?: string): Promise<TestUser> {
  const id = newId();
  const username = name ?? `${role}-${id.slice(-12)}`;
  passwordHash ??= hashPassword(PASSWORD);
  await app.nest
    .get(DataSource)
    .query(`insert into users (id, username, role, password_hash) values ($1, $2, $3, $4)`, [
      id,
      username,
      role,
      await passwordHash,
    ]);
  return { id, name: username, password: PASSWORD };
}

/** Logs in like a browser, and returns the cookie. */
export async function logIn(app: Somewhere, user: TestUser): Promise<string> {
  const answer = await app.client.post('/login', { username: user.name, password: user.password });
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0];
  if (answer.status !== 200 || !cookie) throw new Error(`Login answered ${answer.text}`);
  return cookie;
}

/** A client with a session of the user. Its requests name this site as origin, like those of a browser. */
export async function inSession(app: Somewhere, user: TestUser): Promise<ApiClient> {
  const cookie = await logIn(app, user);
  return app.client.with({ cookie, 'sec-fetch-site': 'same-origin' });
}
