import { createSecretKey, hash, randomBytes } from 'node:crypto';
import { logOfCommand } from '../../src/audit/audit-log.js';
import { AuditKeys } from '../../src/audit/chain/audit-chain.js';
import { ensureAdmin } from '../../src/auth/bootstrap.js';
import { Credentials } from '../../src/auth/credentials.js';
import { Clock } from '../../src/platform/clock.js';
import { ReservedConnections } from '../../src/platform/database/reserved-connections.js';
import { newId } from '../../src/platform/ids.js';
import { SecretKeys } from '../../src/platform/secrets/secret-box.js';
import { useTestDatabase } from '../support/open-test-database.js';

describe('Credentials', () => {
  // This hook runs before the database is closed.
  afterAll(() => reserved.onApplicationShutdown());
  const { dataSource, query, statements } = useTestDatabase();
  let reserved: ReservedConnections;
  let credentials: Credentials;
  beforeAll(() => {
    reserved = new ReservedConnections(dataSource);
    credentials = new Credentials(statements, reserved, new Clock());
  });

  async function makeKey(prefix: string, more: Readonly<Record<string, unknown>> = {}) {
    const id = newId();
    const row: Readonly<Record<string, unknown>> = {
      id,
      name: prefix,
      role: 'senior',
      prefix,
      secret_hash: randomBytes(32),
      created_by: 'system',
      ...more,
    };
    const columns = Object.keys(row);
    const parameters = columns.map((_, at) => `$${at + 1}`);
    await query(
      `insert into api_keys (${columns.join()}) values (${parameters.join()})`,
      Object.values(row),
    );
    return id;
  }
  async function makeSession(role = 'analyst') {
    const [userId, id, tokenHash] = [newId(), newId(), hash('sha256', newId(), 'hex')];
    await query(
      `insert into users (id, username, role, password_hash) values ($1, $2, $3, 'hash')`,
      [userId, `u${userId}`, role],
    );
    await query(
      `insert into sessions (id, user_id, token_hash, expires_at)
       values ($1, $2, decode($3, 'hex'), now() + interval '1 day')`,
      [id, userId, tokenHash],
    );
    return { userId, id, tokenHash };
  }

  it('returns only the requested keys', async () => {
    await makeKey('findOne1');
    await makeKey('findTwo2');
    await makeKey('notAsked');
    const found = await credentials.find(['findOne1', 'findTwo2', 'nobodys0']);
    expect([...found.keys()].sort()).toEqual(['findOne1', 'findTwo2']);
    expect(found.get('findOne1')!.identity).toMatchObject({
      name: 'key:findOne1',
      role: 'senior',
    });
  });

  it('returns no key that was revoked or has expired', async () => {
    await makeKey('revoked1', { revoked_at: new Date() });
    await makeKey('expired1', { expires_at: new Date(Date.now() - 1_000) });
    expect(await credentials.find(['revoked1', 'expired1'])).toEqual(new Map());
  });

  it('returns limits only for a key that has its own limits', async () => {
    const ends = new Date(Date.now() + 60_000);
    await makeKey('nolimits');
    await makeKey('onelimit', { limits: { write: 0 }, expires_at: ends });
    const found = await credentials.find(['nolimits', 'onelimit']);
    expect(found.get('nolimits')!.identity.limits).toBeUndefined();
    expect(found.get('nolimits')!.endsAt).toBeNull();
    expect(found.get('onelimit')!.identity.limits).toEqual({ write: 0 });
    expect(found.get('onelimit')!.endsAt).toEqual(ends);
  });

  it('returns only the requested sessions', async () => {
    const [asked] = await Promise.all([makeSession('manager'), makeSession()]);
    const found = await credentials.find([asked.tokenHash, '00'.repeat(32)]);
    expect([...found]).toEqual([
      [
        asked.tokenHash,
        expect.objectContaining({
          identity: expect.objectContaining({
            id: asked.userId,
            sessionId: asked.id,
            role: 'manager',
          }),
        }),
      ],
    ]);
  });

  it('records the use of used keys and sessions once a minute', async () => {
    const [used, again, unused] = await Promise.all(
      ['noteUsed', 'noteOnce', 'noteNone'].map((p) => makeKey(p)),
    );
    const [session, other] = await Promise.all([makeSession(), makeSession()]);
    await query(`update api_keys set last_used_at = now() - interval '30 seconds' where id = $1`, [
      again,
    ]);
    await query(
      `update sessions set last_seen_at = now() - interval '2 minutes' where id = any ($1)`,
      [[session.id, other.id]],
    );
    const secondsAgo = async (table: string, column: string, id: string | undefined) =>
      (
        await query(
          `select extract(epoch from now() - ${column})::float as s from ${table} where id = $1`,
          [id],
        )
      )[0].s as number | null;

    const keys = [used!, again!].map((id) => ({ id }));
    for (const one of [...keys, { id: session.userId, sessionId: session.id }]) {
      await credentials.noteUsed(one);
    }
    expect(await secondsAgo('api_keys', 'last_used_at', used)).not.toBeNull();
    expect(await secondsAgo('api_keys', 'last_used_at', again)).toBeGreaterThanOrEqual(30);
    expect(await secondsAgo('api_keys', 'last_used_at', unused)).toBeNull();
    expect(await secondsAgo('sessions', 'last_seen_at', session.id)).toBeLessThan(100);
    expect(await secondsAgo('sessions', 'last_seen_at', other.id)).toBeGreaterThanOrEqual(120);
  });

  it('ensures an admin from the command line, and ends the sessions of an existing user', async () => {
    const keys = new AuditKeys(new SecretKeys([createSecretKey(randomBytes(32))]));
    const ensure = (name: string) =>
      ensureAdmin(dataSource, logOfCommand(dataSource, keys), name, 'seven herons over the lake');
    expect(await ensure('eve')).toBe('created');
    const { userId, id } = await makeSession();
    await query('update users set enabled = false where id = $1', [userId]);
    expect(await ensure(`u${userId}`)).toBe('reset');
    const [user] = await query('select role, enabled from users where id = $1', [userId]);
    expect(user).toEqual({ role: 'admin', enabled: true });
    expect(await query('select 1 from sessions where id = $1', [id])).toEqual([]);
    await query('update users set deleted_at = now(), password_hash = null where id = $1', [
      userId,
    ]);
    expect(await ensure(`u${userId}`)).toBeUndefined();
  });
});
