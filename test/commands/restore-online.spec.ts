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
      await eventually(async () => {
        await turnSwitch('deactivate', 'go on');
        const after = await lookUp();
        await becomes(1, () => sentTo(after));
        const restored = await run('restore', file, '--force');
        expect(restored).toMatchObject({ code: 0, stderr: '' });
        expect(restored.stdout).toMatch(/The kill switch is on, as in the backup: [^\n]*\(held\)/);
        expect(sentTo(after)).toBe(1);
        return restored.stdout.includes(`but the backup does not contain: ${after}.`);
      }, Boolean);
      expect((await get('/api/kill-switch')).data).toMatchObject({ active: true, reason: 'held' });
      await becomes('completed', () => statusOf(before));
      expect(sentTo(before)).toBe(1);
      expect(await get('/api/audit/verify')).toMatchObject({ data: { valid: true } });
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
      expect(restored.stdout).toContain(`keep their current state: ${action}.`);
      expect((await get('/api/kill-switch')).data).toMatchObject({
        active: true,
        reason: 'contained',
      });
      const completed = await get('/api/actions?status=completed');
      expect(completed.meta.total).toBe(2);
      expect((await get(`/api/actions/${action}`)).data.status).toBe('completed');
      expect(sentTo(action)).toBe(1);
    });

    // The rest is the same code for both databases, and takes a minute and a half.
    if (kind === 'external') return;

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
      expect(restored.stdout).toMatch(/pending in the backup and are sent: 1\. /);
      const quiet = await run('restore', file, '--force', '--quiet');
      expect(quiet.stdout).toContain('enabled and are now disabled: 1.');
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
      expect(asItWas.stdout).toContain('playbooks and the kill switch are as in the backup');
      await becomes(200, () => statusWith(bearer(key)));
      expect(await login()).toBe(200);
      expect((await get('/api/kill-switch')).data.active).toBe(false);
    });

    it('gives back no role, password, webhook source, webhook secret or automatic run that was taken away since', async () => {
      const [old, renewed] = ['long enough for eve 7', 'another long one for eve 9'];
      const senior = { username: 'eve', password: old, role: 'senior' };
      const eve = (await admin.request('POST', '/api/users', { body: senior })).body.data.id;
      const gone = { source: 'gone', secret: 'the-secret-of-the-gone', signature: 'token' };
      const leaked = { source: 'leaked', secret: 'the-secret-that-leaked', signature: 'token' };
      for (const body of [gone, leaked]) await admin.request('POST', '/api/webhooks', { body });
      const automatic = { name: 'contain', auto_run: true, trust_verdict: true, steps: [] };
      await admin.request('POST', '/api/playbooks', { body: automatic });
      expect(await run('backup', file)).toMatchObject({ code: 0 });

      const taken = [
        await admin.request('PUT', `/api/users/${eve}`, {
          body: { role: 'viewer', password: renewed },
        }),
        await admin.request('DELETE', '/api/webhooks/gone'),
        await admin.request('PUT', '/api/webhooks/leaked', {
          body: { secret: 'the-secret-since-then', revoke_old_secret: true },
        }),
        await admin.request('PUT', '/api/playbooks/contain', {
          body: { auto_run: false, trust_verdict: false },
        }),
      ];
      expect(taken.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const seen = async () => {
        const receipt = async (source: string, secret: string) =>
          (
            await service.client.request('POST', `/api/webhooks/${source}`, {
              body: { data: { alert_id: '1' } },
              headers: { 'x-webhook-token': secret },
            })
          ).status;
        const login = async (password: string) =>
          (
            await service.client.request('POST', '/login', {
              body: { username: 'eve', password },
            })
          ).status;
        const { auto_run, trust_verdict } = (await get('/api/playbooks/contain')).data;
        return {
          role: (await get(`/api/users/${eve}`)).data.role,
          logins: [await login(old), await login(renewed)],
          gone: await receipt('gone', gone.secret),
          leaked: await receipt('leaked', leaked.secret),
          playbook: { auto_run, trust_verdict },
        };
      };
      const without = {
        role: 'viewer',
        logins: [401, 200],
        gone: 404,
        leaked: 401,
        playbook: { auto_run: false, trust_verdict: false },
      };
      expect(await seen()).toEqual(without);
      const kept = await run('restore', file, '--force');
      expect(kept).toMatchObject({ code: 0, stderr: '' });
      await becomes(true, isWell);
      expect(await seen()).toEqual(without);
      expect(kept.stdout).toContain(
        'Access that ended since the backup: 1 roles stay lowered, 1 passwords stay changed, ' +
          '1 webhook sources stay deleted, 1 webhook secrets stay changed, 1 playbooks stay restricted.',
      );
      const records = (await get('/api/audit?action=database.restored')).data;
      expect(records[0].details).toMatchObject({
        roles_kept_lowered: 1,
        passwords_kept_changed: 1,
        webhook_sources_kept_deleted: 1,
        webhook_secrets_kept_changed: 1,
        playbooks_kept_restricted: 1,
      });

      expect(await run('restore', file, '--force', '--as-it-was')).toMatchObject({ code: 0 });
      await becomes('senior', async () => (await seen()).role as string);
      expect(await seen()).toMatchObject({
        role: 'senior',
        logins: [200, 401],
        playbook: { auto_run: true, trust_verdict: true },
      });
    });

    it('gives back no connector or notification channel that was deleted or disabled since', async () => {
      const made = async (path: string, body: object): Promise<string> =>
        (await admin.request('POST', path, { body })).body.data.id;
      const connector = (name: string) =>
        made('/api/connectors', { name, type: 'virustotal', config: { api_key: 'x'.repeat(64) } });
      const channel = (name: string) =>
        made('/api/notification-channels', {
          name,
          type: 'webhook',
          config: { url: 'https://nobody.invalid/' },
          events: ['kill_switch.activated'],
        });
      const [connectors, channels] = ['/api/connectors', '/api/notification-channels'];
      const off = [
        `${connectors}/${await connector('vt-off')}`,
        `${channels}/${await channel('off')}`,
      ];
      const gone = [
        `${connectors}/${await connector('vt-gone')}`,
        `${channels}/${await channel('gone')}`,
      ];
      const kept = `${channels}/${await channel('kept')}`;
      expect(await run('backup', file)).toMatchObject({ code: 0 });
      for (const path of off) await admin.request('PUT', path, { body: { enabled: false } });
      for (const path of gone) await admin.request('DELETE', path);

      const seen = async () => {
        const stateOf = async (path: string): Promise<unknown> => {
          const { status, body } = await admin.request('GET', path);
          return status === 404 ? 'gone' : body.data.enabled;
        };
        return await Promise.all([...off, ...gone, kept].map(stateOf));
      };
      const without = [false, false, 'gone', 'gone', true];
      expect(await seen()).toEqual(without);
      const restored = await run('restore', file, '--force');
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      expect(restored.stdout).toContain(
        '1 connectors stay deleted, 1 connectors stay disabled, ' +
          '1 notification channels stay deleted, 1 notification channels stay disabled.',
      );
      await becomes(true, isWell);
      expect(await seen()).toEqual(without);
      const records = (await get('/api/audit?action=database.restored')).data;
      expect(records[0].details).toMatchObject({
        connectors_kept_deleted: 1,
        connectors_kept_disabled: 1,
        notification_channels_kept_deleted: 1,
        notification_channels_kept_disabled: 1,
      });
      expect(await run('restore', file, '--force', '--as-it-was')).toMatchObject({ code: 0 });
      await becomes(true, isWell);
      expect(await seen()).toEqual([true, true, true, true, true]);
      for (const path of [...off, ...gone, kept]) await admin.request('DELETE', path);
    });
  },
);
