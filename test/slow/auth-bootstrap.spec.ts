import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKey } from '../../src/auth/credentials.js';
import { query as queryOn } from '../support/embedded/query.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const PASSWORD = 'the password of the site';

describe('the first start', () => {
  let database: TestDatabase;
  const apps: TestApp[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
  });

  const start = async (settings: TestAppOptions['settings'] = {}): Promise<TestApp> => {
    const app = await startTestApp({ database, settings });
    apps.push(app);
    return app;
  };
  const query = (text: string) => queryOn<Record<string, unknown>>(database.url, text);
  const login = async (app: TestApp, password: string) =>
    (await app.post('/login', { username: 'admin', password })).status;
  const withKey = async (app: TestApp, key: string) =>
    (await app.get('/api/me', { authorization: `Bearer ${key}` })).body;

  it('leaves no file with the password if it cannot write the credentials file', async () => {
    const dataDir = join(tmpdir(), `its-bootstrap-${randomBytes(6).toString('hex')}`);
    mkdirSync(join(dataDir, 'bootstrap-credentials.json'), { recursive: true });
    await expect(start({ DATABASE_URL: '', DATA_DIR: dataDir })).rejects.toThrow('EISDIR');
    expect(readdirSync(dataDir)).toEqual(['bootstrap-credentials.json']);
  });

  it('creates the admin and the key from the settings only, and writes no secret', async () => {
    await start();
    expect(await query('select username from users union all select name from api_keys')).toEqual(
      [],
    );
    const { key } = createKey();
    const dataDir = join(tmpdir(), `its-bootstrap-${randomBytes(6).toString('hex')}`);
    const app = await start({
      BOOTSTRAP_ADMIN_API_KEY: key,
      BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
      DATA_DIR: dataDir,
    });
    expect(await login(app, PASSWORD)).toBe(200);
    expect((await withKey(app, key)).data).toEqual({
      name: 'key:bootstrap-admin',
      kind: 'key',
      role: 'admin',
      approval_level: 'manager',
      limit_class: 'standard',
    });
    const written = existsSync(dataDir) ? readdirSync(dataDir) : [];
    // While the anchor is written, a temporary file exists next to it.
    expect(written.filter((name) => !name.startsWith('audit-anchor.json'))).toEqual([]);
    expect(await query('select password_made_up from users')).toEqual([
      { password_made_up: false },
    ]);
    const kept = JSON.stringify([
      await query('select * from audit_log'),
      await query('select * from users'),
      await query('select * from api_keys'),
    ]);
    expect(kept).not.toContain(key.slice(13));
    expect(kept).not.toContain(PASSWORD);
    const audited = await query(
      `select actor, action from audit_log where action <> 'playbook.created' order by id limit 2`,
    );
    expect(audited).toEqual([
      { actor: 'system', action: 'user.created' },
      { actor: 'system', action: 'api_key.created' },
    ]);
  });

  it('creates one admin and one key when replicas start together', async () => {
    const { key } = createKey();
    const settings = { BOOTSTRAP_ADMIN_API_KEY: key, BOOTSTRAP_ADMIN_PASSWORD: PASSWORD };
    await Promise.all([start(settings), start(settings)]);
    expect(await query('select username from users')).toEqual([{ username: 'admin' }]);
    expect(await query('select name from api_keys')).toEqual([{ name: 'bootstrap-admin' }]);
    for (const app of apps) {
      expect(await login(app, PASSWORD)).toBe(200);
      expect((await withKey(app, key)).data.role).toBe('admin');
    }
  });

  it('changes nothing at later starts, with any settings', async () => {
    const { key } = createKey();
    const first = await start({ BOOTSTRAP_ADMIN_API_KEY: key, BOOTSTRAP_ADMIN_PASSWORD: PASSWORD });
    const other = createKey().key;
    // The common password is not rejected, because it has no effect at a later start.
    const later = await start({
      BOOTSTRAP_ADMIN_API_KEY: other,
      BOOTSTRAP_ADMIN_PASSWORD: 'Password123!',
    });
    expect(await login(later, PASSWORD)).toBe(200);
    expect(await login(later, 'Password123!')).toBe(401);
    expect((await withKey(later, key)).data.role).toBe('admin');
    expect((await withKey(later, other)).error.code).toBe('unauthorized');
    // A later start does not restore a deleted key.
    const [{ id }] = (await query('select id from api_keys')) as [{ id: string }];
    await first.delete(`/api/api-keys/${id}`, { authorization: `Bearer ${key}` });
    const last = await start({ BOOTSTRAP_ADMIN_API_KEY: key });
    expect((await withKey(last, key)).error.code).toBe('unauthorized');
  });

  it('generates credentials with the embedded database, in a file that only its owner can read', async () => {
    const dataDir = join(tmpdir(), `its-bootstrap-${randomBytes(6).toString('hex')}`);
    // Without DATABASE_URL, the service treats any database as embedded.
    const app = await start({ DATABASE_URL: '', DATA_DIR: dataDir });
    const path = join(dataDir, 'bootstrap-credentials.json');
    try {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const { username, password, api_key } = JSON.parse(readFileSync(path, 'utf8')) as Record<
        string,
        string
      >;
      expect(username).toBe('admin');
      expect(await login(app, password!)).toBe(200);
      expect((await withKey(app, api_key!)).data.role).toBe('admin');
      const before = readFileSync(path, 'utf8');
      await start({ DATABASE_URL: '', DATA_DIR: dataDir });
      expect(readFileSync(path, 'utf8')).toBe(before);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('rejects a common password or malformed setting in one line, and creates nothing', async () => {
    for (const [settings, line] of [
      [{ PASSWORD: 'Password123!' }, /^BOOTSTRAP_ADMIN_PASSWORD is too easy to guess: [^\n]+$/],
      [{ PASSWORD: 'admin-admin-2026' }, /^BOOTSTRAP_ADMIN_PASSWORD is [^\n]+the user name\.$/],
      [{ PASSWORD: 'too short' }, /^BOOTSTRAP_ADMIN_PASSWORD must be [^\n]+$/],
      [{ API_KEY: 'its_short' }, /^BOOTSTRAP_ADMIN_API_KEY must be [^\n]+$/],
    ] as const) {
      const [[name, value]] = Object.entries(settings) as [[string, string]];
      await expect(start({ [`BOOTSTRAP_ADMIN_${name}`]: value })).rejects.toThrow(line);
    }
    expect(await query('select 1 from users')).toEqual([]);
  });
});
