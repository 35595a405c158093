import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiClient } from '../support/api-client.js';
import { type Outcome, runCommand } from '../support/command.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { Site } from '../support/site.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Responses of the service while it creates incidents in a loop, until stopped. */
class Load {
  readonly statuses: number[] = [];
  private stopped = false;
  private readonly done: Promise<unknown>;

  constructor(client: ApiClient, workers = 3) {
    this.done = Promise.all(Array.from({ length: workers }, () => this.run(client)));
  }

  get created(): number {
    return this.statuses.filter((status) => status === 201).length;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.done;
  }

  private async run(client: ApiClient): Promise<void> {
    const body = { incident_type: 'phishing', source: 'load', raw_data: {} };
    while (!this.stopped) {
      const made = await client.post('/api/incidents', body);
      const read = await client.get('/api/incidents?source=site&per_page=100');
      this.statuses.push(made.status, read.status);
    }
  }
}

const becomes = <T>(expected: T, look: () => T | Promise<T>): Promise<T> =>
  eventually(look, (seen) => seen === expected);

describe.each(['external', 'embedded'])(
  'a restore while the service runs, with the database %s',
  (kind) => {
    let folder: string;
    let file: string;
    let site: Site;
    let service: ServiceProcess;
    let admin: ApiClient;
    let database: TestDatabase | undefined;

    const where = (): Record<string, string> =>
      database ? { DATABASE_URL: database.url } : { SECRETS_KEY: '' };
    const start = () =>
      ServiceProcess.start({
        dataDir: folder,
        settings: { ...site.settings, ...where(), ACTION_WAIT_MS: '100' },
      });
    const run = (command: string, ...args: string[]): Promise<Outcome> =>
      runCommand(command, args, { settings: { ...where(), DATA_DIR: folder } });
    const get = async (path: string) => (await admin.get(path)).body;
    const lookUp = async (): Promise<string> => {
      const body = { action: 'lookup_ip', parameters: { ip: '203.0.113.9' } };
      return (await admin.post('/api/actions/execute', body)).body.data.action_id;
    };
    const turnSwitch = (to: 'activate' | 'deactivate', reason: string) =>
      admin.post(`/api/kill-switch/${to}`, { reason });
    const statusOf = async (id: string) => (await get(`/api/actions/${id}`)).data.status as string;
    const sentTo = (id: string) =>
      site.vendor.requests.filter(({ headers }) => headers['idempotency-key'] === id).length;
    const makeKey = async (name: string) => {
      const { body } = await admin.post('/api/api-keys', { name, role: 'viewer' });
      return body.data as { readonly id: string; readonly key: string };
    };
    const statusWith = async (headers: Record<string, string>) =>
      (await service.client.with(headers).get('/api/incidents')).status;
    const bearer = ({ key }: { readonly key: string }) => ({ authorization: `Bearer ${key}` });
    const isWell = async (): Promise<boolean> => {
      const ready = await service.client.get('/ready');
      const detailed = await get('/api/health/detailed');
      return ready.status === 200 && detailed.components?.audit.status === 'healthy';
    };

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'its-restore-'));
      file = join(folder, 'site.backup');
      site = await Site.open();
      database = kind === 'external' ? await createTestDatabase({ empty: true }) : undefined;
      service = await start();
      admin = site.admin(service);
      await site.fill(service);
    });

    afterEach(async () => {
      site.vendor.forget();
      await turnSwitch('deactivate', 'over');
    });
    afterAll(async () => {
      await ServiceProcess.endAll();
      await site.close();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    });

    it('answers each request with the state before or after the restore, and the service continues', async () => {
      const revoked = await makeKey('revoked later');
      const { headers } = await service.client.request('POST', '/login', {
        body: { username: 'admin', password: site.settings['BOOTSTRAP_ADMIN_PASSWORD'] },
      });
      const cookie = String(headers['set-cookie']).split(';')[0]!;
      expect(await statusWith({ cookie })).toBe(200);
      const atBackup = await get('/api/incidents?source=site&per_page=100');
      expect(await run('backup', file, '--force')).toMatchObject({ code: 0, stderr: '' });

      await admin.delete(`/api/api-keys/${revoked.id}`);
      const later = await makeKey('made later');
      for (let n = 0; n < 3; n += 1) await site.addIncident(service);
      const [last] = (await get('/api/incidents?per_page=1')).data;
      const load = new Load(admin);
      await becomes(true, () => load.created > 5);
      expect(await run('restore', file)).toMatchObject({ code: 1 });
      expect(await run('restore', file, '--force')).toMatchObject({ code: 0, stderr: '' });

      const restoredAt = load.created;
      await becomes(401, () => statusWith(bearer(later)));
      await becomes(401, () => statusWith({ cookie }));
      expect(await statusWith(bearer(revoked))).toBe(401);
      await becomes(true, () => load.created > restoredAt + 20);
      await load.stop();
      expect(load.statuses.filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
      expect(await get('/api/incidents?source=site&per_page=100')).toEqual(atBackup);
      const loaded = await get('/api/incidents?source=load&per_page=100');
      expect(loaded.meta.total).toBeGreaterThan(20);
      expect(loaded.meta.total).toBeLessThanOrEqual(load.created);
      const numberOf = (one: { incident_number: string }) =>
        Number(one.incident_number.split('-').at(-1));
      expect(numberOf(loaded.data.at(-1))).toBeGreaterThan(numberOf(last));

      await becomes(true, isWell);
      expect(await get('/api/audit/verify')).toMatchObject({ data: { valid: true } });
      await service.stop();
      service = await start();
      admin = site.admin(service);
      await becomes(true, isWell);
      expect(await get('/api/audit/verify')).toMatchObject({ data: { valid: true } });
    });

    // The code under test is the same for both databases, so the other tests run only once.
    if (kind === 'embedded') return;

    /** Holds the responses of the vendor until the test releases them. */
    const holdVendor = (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      site.vendor.forget();
      site.vendor.held = promise;
      return resolve;
    };

    it('repeats no action that was sent to a vendor, and reports actions that the backup does not contain', async () => {
      const answer = holdVendor();
      const before = await lookUp();
      await becomes(1, () => sentTo(before));
      await turnSwitch('activate', 'held');
      expect(await run('backup', file, '--force')).toMatchObject({ code: 0, stderr: '' });

      await turnSwitch('deactivate', 'go on');
      const after = await lookUp();
      await becomes(1, () => sentTo(after));
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      expect(restored.stdout).toMatch(/kill_switch_on:\n( .*\n)* +reason: held\n/);
      expect(restored.stdout).toContain(`actions_lost:\n  count: 1\n  ids:\n    - ${after}\n`);
      expect((await get('/api/kill-switch')).data).toMatchObject({ active: true, reason: 'held' });
      answer();
      // On a slow machine, the call may have timed out by now, so that the action has failed.
      await becomes(true, async () => ['completed', 'failed'].includes(await statusOf(before)));
      expect([sentTo(before), sentTo(after)]).toEqual([1, 1]);
      expect(await get('/api/audit/verify')).toMatchObject({ data: { valid: true } });
    });

    it('leaves the kill switch on, and keeps the final states that are newer than the backup', async () => {
      const answer = holdVendor();
      const completed = async () =>
        (await get('/api/actions?status=completed')).meta.total as number;
      const before = await completed();
      const action = await lookUp();
      expect(await run('backup', file, '--force')).toMatchObject({ code: 0 });
      answer();
      await becomes('completed', () => statusOf(action));
      await turnSwitch('activate', 'contained');
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      expect(restored.stdout).toMatch(/kill_switch_kept_on:\n( .*\n)* +reason: contained\n/);
      expect(restored.stdout).toContain(`actions_failed:\n  count: 1\n  ids:\n    - ${action}\n`);
      expect((await get('/api/kill-switch')).data).toMatchObject({
        active: true,
        reason: 'contained',
      });
      expect(await completed()).toBe(before);
      expect((await get(`/api/actions/${action}`)).data).toMatchObject({
        status: 'failed',
        result: { code: 'outcome_unknown' },
      });
      expect(sentTo(action)).toBe(1);
    });

    it('does not send pending deliveries, and disables the channels on request', async () => {
      const channel = {
        name: 'nobody',
        type: 'webhook',
        config: { url: 'https://nobody.invalid/' },
        events: ['incident.created'],
      };
      const { body } = await admin.post('/api/notification-channels', channel);
      const incident = { incident_type: 'malware', source: 'edr' };
      await admin.post('/api/incidents', incident);
      expect(await run('backup', file, '--force')).toMatchObject({ code: 0 });
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      expect(restored.stdout).toContain('notifications_unsent: 1\n');
      const { data } = await get(`/api/notification-channels/${body.data.id}/deliveries`);
      expect(data).toMatchObject([
        { status: 'dead', last_error: expect.stringMatching(/^Not sent/) },
      ]);
      const quiet = await run('restore', file, '--force', '--quiet');
      expect(quiet.stdout).toContain('notification_channels_disabled: 1\n');
      const shown = await get(`/api/notification-channels/${body.data.id}`);
      expect(shown.data).toMatchObject({ enabled: false, status: 'disabled' });
      await admin.delete(`/api/notification-channels/${body.data.id}`);
    });

    it('with --as-it-was → also restores access that was removed since, and the state of the kill switch', async () => {
      const password = 'long enough for all 7';
      const ben = { username: 'ben', password, role: 'analyst' };
      const [key, created] = [await makeKey('revoked since'), await admin.post('/api/users', ben)];
      expect(await run('backup', file, '--force')).toMatchObject({ code: 0 });
      const taken = [
        await admin.delete(`/api/api-keys/${key.id}`),
        await admin.put(`/api/users/${created.body.data.id}`, { enabled: false }),
        await turnSwitch('activate', 'contained'),
      ];
      expect(taken.map(({ status }) => status)).toEqual([200, 200, 200]);

      const seen = async () => ({
        key: await statusWith(bearer(key)),
        ben: (await service.client.post('/login', { username: 'ben', password })).status,
        isStopped: (await get('/api/kill-switch')).data.active,
      });
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      await becomes(true, isWell);
      expect(await seen()).toEqual({ key: 401, ben: 401, isStopped: true });
      expect(restored.stdout).toContain('api_keys_kept_revoked: 1\nusers_kept_disabled: 1\n');
      const [record] = (await get('/api/audit?action=database.restored')).data;
      expect(record.details).toMatchObject({ api_keys_kept_revoked: 1, users_kept_disabled: 1 });

      const asItWas = await run('restore', file, '--force', '--as-it-was');
      expect(asItWas.stdout).toContain('as_it_was: true\n');
      await becomes(200, () => statusWith(bearer(key)));
      expect(await seen()).toEqual({ key: 200, ben: 200, isStopped: false });
    });
  },
);
