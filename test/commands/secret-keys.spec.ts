import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../support/command.js';
import { query } from '../support/embedded/query.js';
import { eventually } from '../support/jobs/eventually.js';
import { lostKeySql } from '../support/lost-key.js';
import { ServiceProcess } from '../support/service-process.js';
import { Site } from '../support/site.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

const newKey = (): string => randomBytes(32).toString('base64');
const WRONG =
  /This database was used with the key ([0-9a-f]{16}), but \S+ (contains|does not exist)/;
const RECORDS = 'select count(*)::int as records from audit_log';

describe('the encryption keys that the database knows', () => {
  const site = useStarted(() => Site.open());
  let filledDatabase: TestDatabase;
  let filledHome: string;
  let database: TestDatabase;
  let home: string;
  const old = newKey();

  beforeAll(async () => {
    filledDatabase = database = await createTestDatabase();
    filledHome = home = mkdtempSync(join(tmpdir(), 'its-anchor-'));
    const service = await start(old);
    await site.fill(service);
    await service.stop();
  });
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'its-anchor-'));
    cpSync(filledHome, home, { recursive: true });
    database = await cloneOf(filledDatabase);
  });
  afterEach(async () => {
    await ServiceProcess.endAll();
    await database.drop();
    rmSync(home, { recursive: true, force: true });
  });
  afterAll(async () => {
    await filledDatabase.drop();
    rmSync(filledHome, { recursive: true, force: true });
  });

  const withKeys = (...keys: string[]) => ({
    settings: {
      ...site.settings,
      DATABASE_URL: database.url,
      SECRETS_KEY: keys.join(),
      AUDIT_ANCHOR_FILE: join(home, 'anchor.json'),
    },
  });
  const start = (...keys: string[]) => ServiceProcess.start(withKeys(...keys));
  /** Expects that the service does not start with these keys. Returns its message. */
  const refused = async (...keys: string[]): Promise<string> => {
    const service = new ServiceProcess(withKeys(...keys));
    expect((await service.exited).code).toBe(1);
    return service.lines.find((line) => line.startsWith('Not started: ')) ?? '';
  };
  /** Waits until the anchor file contains the current end of the trail. */
  const expectAuditHealthy = async (service: ServiceProcess): Promise<void> => {
    await eventually(
      async () => {
        const [counted] = await query<{ records: number }>(database.url, RECORDS);
        const anchor = join(home, 'anchor.json');
        if (!existsSync(anchor)) return false;
        const { seq } = JSON.parse(readFileSync(anchor, 'utf8'));
        return Number(seq) === counted!.records;
      },
      (isCurrent) => isCurrent,
    );
    const { body } = await site.admin(service).get('/health/detailed');
    expect(body.components.audit).toMatchObject({ status: 'healthy' });
  };

  it('stop a start and every command with another key before the first write', async () => {
    const [{ id }] = (await query<{ id: string }>(database.url, 'select id from secret_keys')) as [
      { id: string },
    ];
    const before = await query(database.url, RECORDS);
    const other = newKey();
    const line = await refused(other);
    expect(WRONG.exec(line)?.[1]).toBe(id);
    for (const [command, args] of [
      ['create-admin', ['eve']],
      ['reseal', []],
      ['backup', [join(tmpdir(), `its-${randomBytes(4).toString('hex')}`)]],
    ] as const) {
      const { code, stderr } = await runCommand(command, args, withKeys(other));
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stderr).toMatch(/^[^\n]+\n$/);
      expect(WRONG.exec(stderr)?.[1]).toBe(id);
    }
    expect(await query(database.url, RECORDS)).toEqual(before);
    expect(await query(database.url, 'select 1 from users where username = $$eve$$')).toEqual([]);
  });

  it('are the keys of the first process if several processes start together with different keys', async () => {
    await database.drop();
    database = await createTestDatabase();
    rmSync(join(home, 'anchor.json'), { force: true });
    const services = [newKey(), newKey()].map((key) => new ServiceProcess(withKeys(key)));
    const outcomes = await Promise.all(
      services.map((service) =>
        service.logged(/Listening on/).then(
          () => 'listening',
          () => 'refused',
        ),
      ),
    );
    expect(outcomes.filter((one) => one === 'listening')).toHaveLength(1);
    expect(await query(database.url, 'select id from secret_keys')).toHaveLength(1);
  });

  it('do not include the old key after reseal, and reject it as the first key', async () => {
    const next = newKey();
    const running = await start(next, old);
    // From now on, a replica without the new key cannot read all secrets.
    expect(await refused(old)).toMatch(WRONG);
    expect(await refused(next)).toMatch(WRONG);
    const { stdout, stderr, code } = await runCommand('reseal', [], withKeys(next, old));
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toMatch(/[0-9a-f]{16} is no longer needed: remove it from SECRETS_KEY\./);
    expect(await site.faults(running)).toEqual([]);
    await running.stop();

    expect(await sealedUnder(database.url)).toHaveLength(1);
    const after = await start(next);
    expect(await site.faults(after)).toEqual([]);
    // Some programs treat U+2028 as a line break, but the verification must not.
    const body = { reason: 'a\u2028b' };
    await site.admin(after).post('/api/kill-switch/activate', body);
    const exported = await site.admin(after).get('/api/audit/export');
    expect(exported.text).toContain('\u2028');
    const file = join(after.dataDir, 'audit.ndjson');
    writeFileSync(file, exported.text);
    expect(await runCommand('audit', ['verify', file], withKeys(next))).toMatchObject({ code: 0 });
    for (const key of [newKey(), '']) {
      expect(await runCommand('audit', ['verify', file], withKeys(key))).toMatchObject({ code: 1 });
    }
    writeFileSync(file, exported.text.replace('"actor":"', '"actor":"x'));
    const edited = await runCommand('audit', ['verify', file], withKeys(next));
    expect(edited).toMatchObject({ code: 1 });
    expect(edited.stdout).toMatch(/was changed/);
    expect(await refused(old)).toMatch(WRONG);
    expect(await refused(old, next)).toMatch(/begins with the retired key [0-9a-f]{16}\./);
    const again = await runCommand('reseal', [], withKeys(next));
    expect(again.stdout).toMatch(/No older key is needed\./);
  });

  it('can be rotated while the service is stopped', async () => {
    const next = newKey();
    expect((await runCommand('reseal', [], withKeys(next, old))).code).toBe(0);
    const after = await start(next);
    await expectAuditHealthy(after);
    const accepted = await runCommand('audit', ['accept-head', 'a drill'], withKeys(next));
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
    expect((await runCommand('audit', ['accept-head'], withKeys(next))).stderr).toMatch(/^Usage: /);
  });

  it('can still be rotated if reseal is killed after any of its steps and started again', async () => {
    const next = newKey();
    const service = await start(next, old);
    const { settings } = withKeys(next, old);
    for (const until of [/secrets are now encrypted/, /are verified/]) {
      await runCommand('reseal', [], { settings, until });
      expect(await site.faults(service)).toEqual([]);
    }
    expect(await runCommand('reseal', [], { settings })).toMatchObject({ code: 0, stderr: '' });
    await service.stop();
    expect(await site.faults(await start(next))).toEqual([]);
  });

  it('can be replaced after their loss, as docs/operations.md describes', async () => {
    const next = newKey();
    const [, id] = WRONG.exec(await refused(next))!;
    const backup = await runCommand(
      'backup',
      [join(home, 'lost.backup'), '--without-key'],
      withKeys(next),
    );
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    const sql = lostKeySql(id!);
    await query(database.url, sql.secrets);
    await query(database.url, sql.trail);
    rmSync(join(home, 'anchor.json'));

    const service = await start(next);
    await expectAuditHealthy(service);
    const admin = site.admin(service);
    expect((await admin.get('/api/audit/verify')).body.data).toMatchObject({ valid: true });
    const [connector] = (await admin.get('/api/connectors')).body.data;
    expect(connector).toMatchObject({ name: 'firewall', enabled: false, secrets_set: [] });
    const { body } = await admin.get('/api/attention?kind=secrets_lost');
    expect(body.data.items.length).toBeGreaterThan(1);
    expect(await sealedUnder(database.url)).not.toContain(id);
    const kept = await query<{ rows: number }>(
      database.url,
      'select count(*)::int as rows from audit_before.audit_log',
    );
    expect(kept[0]!.rows).toBeGreaterThan(5);
    expect(await refused(old)).toMatch(WRONG);
    expect(await refused(old, next)).toMatch(/begins with the retired key [0-9a-f]{16}\./);
  });

  it('are not generated for an embedded database that was used with another key', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'its-lost-'));
    const dataDir = join(folder, 'data');
    const embedded = { dataDir: folder, settings: { SECRETS_KEY: '', DATA_DIR: dataDir } };
    const file = join(dataDir, 'secrets.key');
    try {
      const first = await ServiceProcess.start(embedded);
      await first.stop();
      renameSync(file, `${file}.away`);

      const service = new ServiceProcess(embedded);
      expect((await service.exited).code).toBe(1);
      expect(service.lines.at(-1)).toMatch(
        /^Not started: [^\n]*secrets\.key does not exist\. Restore/,
      );
      const admin = await runCommand('create-admin', ['eve'], embedded);
      expect(admin.code).toBe(1);
      expect(admin.stderr).toMatch(WRONG);
      expect(existsSync(file)).toBe(false);

      renameSync(`${file}.away`, file);
      const again = await ServiceProcess.start(embedded);
      // The command works while the service runs.
      const made = await runCommand('create-admin', ['eve'], embedded);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      await again.stop();
    } finally {
      await ServiceProcess.endAll();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    }
  });
});

/** Returns the key ids of all sealed values in the database. */
async function sealedUnder(url: string): Promise<string[]> {
  const columns = await query<{ source: string }>(
    url,
    `select format('select %I::text as value from %I', column_name, table_name) as source
     from information_schema.columns where table_schema = 'public' and data_type in ('text', 'json', 'jsonb')`,
  );
  const all = columns.map(({ source }) => source).join(' union all ');
  const found = await query<{ id: string }>(
    url,
    `select distinct substring(value from '^v1\\.([0-9a-f]{16})\\.') as id
     from (${all}) as every_text where value ~ '^v1\\.[0-9a-f]{16}\\.'`,
  );
  return found.map(({ id }) => id);
}

async function cloneOf({ url }: TestDatabase): Promise<TestDatabase> {
  const clone = await createTestDatabase({ empty: true });
  const [from, to] = [url, clone.url].map((one) => new URL(one).pathname.slice(1));
  await query(process.env['TEST_SERVER_URL']!, `drop database ${to}`);
  await query(process.env['TEST_SERVER_URL']!, `create database ${to} template ${from}`);
  return clone;
}
