import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApiClient } from '../support/api-client.js';
import { type Outcome, runCommand } from '../support/command.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { Site } from '../support/site.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

jest.setTimeout(300_000);

/** Answers of the service while it creates incidents without a pause, until it is stopped. */
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
      const made = await client.request('POST', '/api/incidents', { body });
      const read = await client.request('GET', '/api/incidents?source=site&per_page=100');
      this.statuses.push(made.status, read.status);
    }
  }
}

/** Long enough for a backup and a restore meanwhile, and less than a call may take. */
const VENDOR_MS = 7_000;

/** Machines may be busy. */
const becomes = <T>(expected: T, look: () => T | Promise<T>): Promise<T> =>
  eventually(look, (seen) => seen === expected, 60_000);

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
    const get = async (path: string) => (await admin.request('GET', path)).body;
    const lookUp = async (): Promise<string> => {
      const body = { action: 'lookup_ip', parameters: { ip: '203.0.113.9' } };
      return (await admin.request('POST', '/api/actions/execute', { body })).body.data.action_id;
    };
    const turnSwitch = (to: 'activate' | 'deactivate', reason: string) =>
      admin.request('POST', `/api/kill-switch/${to}`, { body: { reason } });
    const statusOf = async (id: string) => (await get(`/api/actions/${id}`)).data.status as string;
    const sentTo = (id: string) =>
      site.vendor.requests.filter(({ headers }) => headers['idempotency-key'] === id).length;
    const makeKey = async (name: string) => {
      const { body } = await admin.request('POST', '/api/api-keys', {
        body: { name, role: 'viewer' },
      });
      return body.data as { readonly id: string; readonly key: string };
    };
    const statusWith = async (headers: Record<string, string>) =>
      (await service.client.with(headers).request('GET', '/api/incidents')).status;
    const bearer = ({ key }: { readonly key: string }) => ({ authorization: `Bearer ${key}` });
    const isWell = async (): Promise<boolean> => {
      const ready = await service.client.request('GET', '/ready');
      const detailed = await get('/api/health/detailed');
      return ready.status === 200 && detailed.components?.audit.status === 'healthy';
    };

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'its-restore-'));
      file = join(folder, 'site.backup');
      site = await Site.open();
      database = kind === 'external' ? await createTestDatabase({ empty: true }) : undefined;
      service = await start();
      admin = site.admin(service);
      await site.fill(service);
    });

    afterEach(async () => {
      await ServiceProcess.endAll();
      await site.close();
      await database?.drop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    });

    it('shows every request the state before or after it, and the service goes on', async () => {
      const revoked = await makeKey('revoked later');
      const login = {
        body: { username: 'admin', password: site.settings['BOOTSTRAP_ADMIN_PASSWORD'] },
      };
      const { headers } = await service.client.request('POST', '/login', login);
      const cookie = String(headers['set-cookie']).split(';')[0]!;
      expect(await statusWith({ cookie })).toBe(200);
      const atBackup = await get('/api/incidents?source=site&per_page=100');
      expect(await run('backup', file)).toMatchObject({ code: 0, stderr: '' });

      await admin.request('DELETE', `/api/api-keys/${revoked.id}`);
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

    it('repeats no action that a vendor was asked to do, and reports those that the backup does not know', async () => {
      site.vendor.forget();
      site.vendor.plan = () => ({ behaviour: 'apply', afterMs: VENDOR_MS });
      const before = await lookUp();
      await becomes(1, () => sentTo(before));
      await turnSwitch('activate', 'held');
      expect(await run('backup', file)).toMatchObject({ code: 0, stderr: '' });

      // A busy machine may restore when the vendor has answered already: then that action is tried again.
      await eventually(
        async () => {
          await turnSwitch('deactivate', 'go on');
          const after = await lookUp();
          await becomes(1, () => sentTo(after));
          const restored = await run('restore', file, '--force');
          expect(restored).toMatchObject({ code: 0, stderr: '' });
          expect(restored.stdout).toMatch(
            /The kill switch is on, as in the backup: [^\n]*\(held\)/,
          );
          expect(sentTo(after)).toBe(1);
          return restored.stdout.includes(`the backup does not know them: ${after}.`);
        },
        Boolean,
        60_000,
      );
      expect((await get('/api/kill-switch')).data).toMatchObject({ active: true, reason: 'held' });
      await becomes('completed', () => statusOf(before));
      expect(sentTo(before)).toBe(1);
      expect(await get('/api/audit/verify')).toMatchObject({ data: { valid: true } });
    });

    it('sends what had still to be sent, and disables the channels when it is to be quiet', async () => {
      const channel = {
        name: 'nobody',
        type: 'webhook',
        config: { url: 'https://nobody.invalid/' },
        events: ['incident.created'],
      };
      const { body } = await admin.request('POST', '/api/notification-channels', { body: channel });
      const incident = { incident_type: 'malware', source: 'edr' };
      await admin.request('POST', '/api/incidents', { body: incident });
      expect(await run('backup', file)).toMatchObject({ code: 0 });
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      expect(restored.stdout).toMatch(/in the backup, and are sent: 1\. /);
      const quiet = await run('restore', file, '--force', '--quiet');
      expect(quiet.stdout).toContain('enabled, and are disabled: 1.');
      expect(quiet.stdout).not.toContain('and are sent');
      const shown = await get(`/api/notification-channels/${body.data.id}`);
      expect(shown.data).toMatchObject({ enabled: false, status: 'disabled' });
    });

    it('keeps revoked keys, disabled users and the kill switch as they are, unless told --as-it-was', async () => {
      const key = await makeKey('revoked since');
      const user = { username: 'ben', password: 'long enough for ben 7', role: 'analyst' };
      const { body } = await admin.request('POST', '/api/users', { body: user });
      const login = async () => {
        const { username, password } = user;
        return (await service.client.request('POST', '/login', { body: { username, password } }))
          .status;
      };
      expect(await run('backup', file)).toMatchObject({ code: 0 });
      await admin.request('DELETE', `/api/api-keys/${key.id}`);
      await admin.request('PUT', `/api/users/${body.data.id}`, { body: { enabled: false } });
      await turnSwitch('activate', 'contained');

      const kept = await run('restore', file, '--force');
      expect(kept.stdout).toContain('1 API keys stay revoked, 1 users stay disabled.');
      expect([await statusWith(bearer(key)), await login()]).toEqual([401, 401]);
      expect((await get('/api/kill-switch')).data.active).toBe(true);

      const asItWas = await run('restore', file, '--force', '--as-it-was');
      expect(asItWas.stdout).toContain('Keys, users and the kill switch are as in the backup');
      await becomes(200, () => statusWith(bearer(key)));
      expect(await login()).toBe(200);
      expect((await get('/api/kill-switch')).data.active).toBe(false);
    });

    it('leaves the kill switch on, and keeps ended what has ended since the backup', async () => {
      site.vendor.forget();
      site.vendor.plan = () => ({ behaviour: 'apply', afterMs: VENDOR_MS });
      const action = await lookUp();
      expect(await run('backup', file)).toMatchObject({ code: 0 });
      await becomes('completed', () => statusOf(action));
      await turnSwitch('activate', 'contained');
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      expect(restored.stdout).toMatch(
        /The kill switch is on, as before the restore: [^\n]*contained/,
      );
      expect(restored.stdout).toContain(`are where they were now: ${action}.`);
      expect((await get('/api/kill-switch')).data).toMatchObject({
        active: true,
        reason: 'contained',
      });
      const completed = await get('/api/actions?status=completed');
      expect(completed.meta.total).toBe(2);
      expect((await get(`/api/actions/${action}`)).data.status).toBe('completed');
      expect(sentTo(action)).toBe(1);
    });
  },
);
