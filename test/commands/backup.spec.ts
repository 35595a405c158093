import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { readBackup } from '../../src/platform/database/backup.js';
import { query } from '../support/embedded/query.js';
import { type Outcome, runCommand } from '../support/command.js';
import { ServiceProcess } from '../support/service-process.js';
import { contentsOf, Site, type TableContent } from '../support/site.js';
import {
  asServiceRole,
  createTestDatabase,
  grantServiceRole,
  type TestDatabase,
} from '../support/test-database.js';

/** Tables that a restore itself changes, so that they differ from the backup. */
const OF_ITS_OWN = ['audit_log', 'schema_migrations', 'secret_keys', 'sessions'];

const drain = async (_: unknown, rows: AsyncIterable<Buffer>): Promise<void> => {
  for await (const part of rows) void part;
};

const compared = (contents: Record<string, TableContent>): Record<string, TableContent> =>
  Object.fromEntries(Object.entries(contents).filter(([table]) => !OF_ITS_OWN.includes(table)));

describe('backup and restore, with an external database', () => {
  let folder: string;
  let file: string;
  let whole: Buffer;
  let site: Site;
  let source: TestDatabase;
  const databases: TestDatabase[] = [];

  const database = async (options?: { empty: boolean }): Promise<TestDatabase> => {
    const made = await createTestDatabase(options);
    databases.push(made);
    return made;
  };
  const on = ({ url }: TestDatabase) => ({ settings: { DATABASE_URL: url } });
  const backup = (from: TestDatabase, ...args: string[]) => runCommand('backup', args, on(from));
  const restore = (to: TestDatabase, ...args: string[]) => runCommand('restore', args, on(to));
  const serve = (from: TestDatabase) =>
    ServiceProcess.start({ settings: { ...site.settings, DATABASE_URL: from.url } });
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'its-backup-'));
    file = join(folder, 'site.backup');
    site = await Site.open();
    source = await database({ empty: true });
    const service = await serve(source);
    await site.fill(service);
    await service.stop();
    expect(await backup(source, file)).toMatchObject({ code: 0, stderr: '' });
    whole = readFileSync(file);
  });

  afterEach(() => ServiceProcess.endAll());
  afterAll(async () => {
    await site.close();
    for (const one of databases) await one.drop();
    rmSync(folder, { recursive: true });
  });

  it('restores everything, into an empty and into a used database', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['site.backup']);
    const before = await contentsOf(source.url);
    expect(before['incidents']!.rows).toBe(7);
    expect(before['actions']!.rows).toBe(1);
    const target = await database({ empty: true });
    const expectAllOf = async () => {
      const after = await contentsOf(target.url);
      // Two more records: one of the restore, and one of the acceptance of the trail.
      expect(after['audit_log']!.rows).toBe(before['audit_log']!.rows + 2);
      expect(after['schema_migrations']!.rows).toBe(before['schema_migrations']!.rows);
      expect(compared(after)).toEqual(compared(before));
      const service = await serve(target);
      expect(await site.faults(service)).toEqual([]);
      await service.stop();
    };
    expect(await restore(target, file)).toMatchObject({ code: 0, stderr: '' });
    await expectAllOf();
    const refused = await restore(target, file);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^The database is not empty\. [^\n]*--force[^\n]*\n$/);
    expect(await restore(target, file, '--force')).toMatchObject({ code: 0, stderr: '' });
    await expectAllOf();
  });

  it('writes a consistent backup while the service continues to write', async () => {
    const busy = await database();
    const service = await serve(busy);
    const other = join(folder, 'busy.backup');
    let outcome: Outcome | undefined;
    const done = backup(busy, other).then((one) => (outcome = one));
    const body = { incident_type: 'phishing', source: 'busy' };
    while (!outcome) await site.admin(service).post('/api/incidents', body);
    await done;
    expect(outcome).toMatchObject({ code: 0 });
    const target = await database({ empty: true });
    expect(await restore(target, other)).toMatchObject({ code: 0 });
    // Each creation writes an incident and its audit record in one transaction.
    const [counts] = await query<{ incidents: number; records: number }>(
      target.url,
      `select (select count(*)::int from incidents) as incidents,
              (select count(*)::int from audit_log where action = 'incident.created') as records`,
    );
    expect(counts!.incidents).toBe(counts!.records);
    rmSync(other);
  });

  it('refuses a restore while a service with other keys or another schema is connected', async () => {
    const target = await database();
    const otherKey = Buffer.alloc(32, 9).toString('base64');
    const service = await ServiceProcess.start({
      settings: { ...site.settings, DATABASE_URL: target.url, SECRETS_KEY: otherKey },
    });
    const before = await contentsOf(target.url);
    const both = `${otherKey},${Buffer.alloc(32, 7).toString('base64')}`;
    const settings = { DATABASE_URL: target.url, SECRETS_KEY: both };
    const keys = await runCommand('restore', [file, '--force'], { settings });
    expect(keys.code).toBe(1);
    expect(keys.stderr).toMatch(/^The service is connected [^\n]* other keys\. Stop all [^\n]*\n$/);
    await service.stop();

    await ServiceProcess.start({ settings: { ...site.settings, ...settings } });
    await query(target.url, 'delete from schema_migrations');
    const schemas = await restore(target, file, '--force');
    expect(schemas.code).toBe(1);
    expect(schemas.stderr).toMatch(
      /^The service is connected [^\n]* another schema [^\n]*\. Stop all [^\n]*\n$/,
    );
    expect((await contentsOf(target.url))['incidents']).toEqual(before['incidents']);
  });

  it('changes nothing if the file is damaged, truncated or not a backup', async () => {
    const content = gunzipSync(whole);
    const damaged = Buffer.from(whole);
    damaged[900]! ^= 1;
    const damages: Record<string, [Buffer, RegExp?]> = {
      'a changed byte': [damaged],
      'cut off': [whole.subarray(0, whole.length - 20)],
      'cut off between tables': [gzipSync(content.subarray(0, -3)), /its end is missing/],
      text: [Buffer.from('nothing of the kind')],
      'another gzip': [gzipSync('nothing of the kind')],
      empty: [Buffer.alloc(0)],
      'rows after an early end': [Buffer.concat([whole, whole]), /it has data after its end/],
    };
    const bad = join(folder, 'bad.backup');
    for (const [how, [bytes, why = /[^]/]] of Object.entries(damages)) {
      writeFileSync(bad, bytes);
      const error: unknown = await readBackup(bad, drain).catch((thrown: unknown) => thrown);
      expect({ how, error }).toEqual({ how, error: expect.any(Error) });
      expect((error as Error).message).toMatch(why);
    }
    const before = await contentsOf(source.url);
    writeFileSync(bad, damages['a changed byte']![0]);
    const { code, stderr } = await restore(source, bad, '--force');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^[^\n]*cannot be restored, and nothing was changed: [^\n]+\n$/);
    expect(await contentsOf(source.url)).toEqual(before);
    rmSync(bad);
  });

  it('restores as the owner, and changes nothing as a role that owns no tables', async () => {
    const target = await database({ empty: true });
    const alone = { DATABASE_URL: asServiceRole(target.url) };
    const both = { settings: { ...alone, MIGRATION_DATABASE_URL: target.url } };
    const refusal = {
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^(permission denied for|must be owner of) [^\n]+\n$/),
    };
    expect(await runCommand('restore', [file], { settings: alone })).toEqual(refusal);
    expect(await contentsOf(target.url)).toEqual({});
    expect(await runCommand('restore', [file], both)).toMatchObject({ code: 0, stderr: '' });
    await grantServiceRole(target.url);

    const before = await contentsOf(target.url);
    expect(await runCommand('restore', [file, '--force'], { settings: alone })).toEqual(refusal);
    expect(await contentsOf(target.url)).toEqual(before);
    expect(await runCommand('restore', [file, '--force'], both)).toMatchObject({ code: 0 });
    const service = await ServiceProcess.start({ settings: { ...site.settings, ...alone } });
    expect(await site.faults(service)).toEqual([]);
  });

  it('never leaves a partial file, and replaces a file only with --force', async () => {
    const kept = join(folder, 'kept.backup');
    writeFileSync(kept, 'precious');
    expect(await backup(source, kept)).toMatchObject({ code: 1, stdout: '' });
    const nowhere = join(folder, 'nowhere');
    expect(await backup(source, join(nowhere, 'site.backup'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^ENOENT: no such file[^\n]*nowhere[^\n]*\n$/),
    });
    // A limit on the size of files acts like a full file system.
    const full = await runCommand('backup', [kept, '--force'], {
      ...on(source),
      limit: 'ulimit -f 1',
    });
    expect(full.code).not.toBe(0);
    expect(full.stderr).toMatch(/^[^\n]*(EFBIG|File too large|file too large)[^\n]*\n$/);
    expect(readdirSync(folder)).toEqual(['kept.backup', 'site.backup']);
    expect(readFileSync(kept, 'utf8')).toBe('precious');
    expect(await backup(source, kept, '--force')).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(['kept.backup', 'site.backup']);
    rmSync(kept);
  });

  it('requires the key of the backup before it changes anything', async () => {
    expect(gunzipSync(whole).toString('latin1')).not.toContain('BwcHBwcHBwc');
    const target = await database({ empty: true });
    const other = {
      settings: { DATABASE_URL: target.url, SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') },
    };
    const refused = await runCommand('restore', [file], other);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^The backup \S+ needs the key [0-9a-f]{16}, but SECRETS_KEY contains [0-9a-f]{16}\. Add [^\n]+\n$/,
    );
    expect(await contentsOf(target.url)).toEqual({});
    const kept = await runCommand('backup', [join(folder, 'b')], {
      settings: { ...other.settings, DATABASE_URL: source.url },
    });
    expect(kept.stderr).toMatch(/^This database was used with the key [0-9a-f]{16}, [^\n]+\n$/);
    expect(existsSync(join(folder, 'b'))).toBe(false);

    // The backup can be restored without the key.
    expect(await runCommand('restore', [file, '--without-key'], other)).toMatchObject({ code: 0 });
  });
});

describe('backup and restore, with the embedded database', () => {
  let folder: string;
  let site: Site;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'its-backup-'));
    site = await Site.open();
  });
  afterEach(async () => {
    await ServiceProcess.endAll();
    await site.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  });

  it('restores a whole site into another DATA_DIR from a backup of a running service', async () => {
    const file = join(folder, 'site.backup');
    const [from, to] = [join(folder, 'from'), join(folder, 'to')];
    const settings = { ...site.settings, SECRETS_KEY: '' };
    const on = (dataDir: string) => ({ settings: { SECRETS_KEY: '', DATA_DIR: dataDir } });
    expect((await runCommand('backup', [file], on(from))).stderr).toMatch(/^There is no database /);
    expect(existsSync(from)).toBe(false);

    const service = await startIn(from, settings);
    await site.fill(service);
    const said = await service.logged(/Database: .*keeps its data in /);
    const place = /keeps its data in ([^"\s]+)/.exec(said)![1]!;
    expect(existsSync(join(place, 'PG_VERSION'))).toBe(true);
    expect(await runCommand('backup', [file], on(from))).toMatchObject({ code: 0, stderr: '' });
    await service.stop();

    const keyless = await runCommand('restore', [file], on(to));
    expect(keyless.stderr).toMatch(/secrets\.key does not exist\. Restore [0-9a-f]{16} [^\n]*\n$/);
    mkdirSync(to);
    copyFileSync(join(from, 'secrets.key'), join(to, 'secrets.key'));
    expect(await runCommand('restore', [file], on(to))).toMatchObject({ code: 0, stderr: '' });
    const restored = await startIn(to, settings);
    expect(await site.faults(restored)).toEqual([]);
  });

  async function startIn(dataDir: string, settings: Record<string, string>) {
    mkdirSync(dataDir, { recursive: true });
    return ServiceProcess.start({ dataDir, settings });
  }
});
