import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { ApiClient } from '../support/api-client.js';
import { runCommand } from '../support/command.js';
import { query } from '../support/embedded/query.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { Site } from '../support/site.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const INCIDENTS = 3;
const PLAYBOOK = {
  name: 'contain',
  auto_run: true,
  triggers: { incident_types: ['malware'] },
  steps: [],
};

describe('a backup of the moment in which playbooks were to start by themselves', () => {
  let folder: string;
  let site: Site;
  const databases: TestDatabase[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'its-playbooks-'));
    site = await Site.open();
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await site?.close();
    for (const one of databases) await one.drop();
    rmSync(folder, { recursive: true });
  });

  const made = async (options?: { empty: boolean }): Promise<TestDatabase> => {
    const database = await createTestDatabase(options);
    databases.push(database);
    return database;
  };
  const serve = ({ url }: TestDatabase) =>
    ServiceProcess.start({ settings: { ...site.settings, DATABASE_URL: url } });
  const command = (name: string, { url }: TestDatabase, ...args: string[]) =>
    runCommand(name, args, { settings: { DATABASE_URL: url } });

  const triage = async (admin: ApiClient): Promise<void> => {
    const incident = { incident_type: 'malware', source: 'site', raw_data: {} };
    const { body } = await admin.post('/api/incidents', incident);
    const verdict = { classification: 'malicious' };
    const { status } = await admin.put(`/api/incidents/${body.data.id}`, { verdict });
    if (status !== 200) throw new Error(`The triage was answered with ${status}.`);
  };
  const runsIn = async ({ url }: TestDatabase): Promise<number> => {
    const [row] = await query<{ runs: number }>(
      url,
      `select count(distinct incident_id)::int as runs from playbook_runs where automatic`,
    );
    return row!.runs;
  };
  /** The handler of the event cannot look for playbooks meanwhile: its jobs are there, and what they are for is not done. */
  const whileNoneCanStart = async ({ url }: TestDatabase, work: () => Promise<void>) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('lock table playbooks in access exclusive mode');
      await work();
    } finally {
      await client.end();
    }
  };

  it('starts them after the restore, and where they have started since then, not again', async () => {
    const original = await made();
    const file = join(folder, 'site.backup');
    const service = await serve(original);
    const admin = site.admin(service);
    expect((await admin.post('/api/playbooks', PLAYBOOK)).status).toBe(201);
    await whileNoneCanStart(original, async () => {
      for (let n = 0; n < INCIDENTS; n += 1) await triage(admin);
      await service.kill();
    });
    expect(await command('backup', original, file)).toMatchObject({ code: 0, stderr: '' });
    expect(await runsIn(original)).toBe(0);

    const restored = await made({ empty: true });
    expect(await command('restore', restored, file)).toMatchObject({ code: 0, stderr: '' });
    const second = await serve(restored);
    const started = (runs: number) => runs === INCIDENTS;
    expect(await eventually(() => runsIn(restored), started)).toBe(INCIDENTS);
    await second.stop();

    const over = await command('restore', restored, file, '--force');
    expect(over).toMatchObject({ code: 0, stderr: '' });
    expect(over.stdout).toContain(
      `Triages that had started playbooks automatically since the backup and do not start them again: ${INCIDENTS}.`,
    );
    const third = await serve(restored);
    await triage(site.admin(third));
    await eventually(async () => (await runsIn(restored)) > 0);
    expect(await runsIn(restored)).toBe(1);
  });
});
