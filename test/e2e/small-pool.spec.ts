import { DataSource } from 'typeorm';
import type { Answer } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { WebhookReceiver } from '../support/notifications/webhook-receiver.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { WebhookSourcesService } from '../../src/webhooks/sources/webhook-sources.service.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const AT_ONCE = 8;

const each = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, n) => work(n)));

const statusesOf = (answers: readonly Answer[]): number[] => [
  ...new Set(answers.map(({ status }) => status)),
];

/**
 * A transaction must not request a second connection: if all connections are in transactions, it would wait forever.
 */
describe('the service with two connections to the database', () => {
  const world = useStarted(() =>
    PlaybookWorld.start({ DATABASE_POOL_SIZE: '2', TRIAGE_PROVIDER: 'rules' }),
  );
  const receiver = useStarted(() => WebhookReceiver.start());

  beforeAll(async () => {
    const body = { name: 'hook', type: 'webhook', config: { url: receiver.url } };
    expect((await world.clients.admin.post('/api/notification-channels', body)).status).toBe(201);
  });

  it('stores events of webhooks and triages their incidents, many at the same time', async () => {
    const { admin, viewer } = world.clients;
    await registerSource(admin, { auto_triage: true });
    const sender = new WebhookSender(world.actions.app.client);
    const event = (n: number) => ({
      event_type: 'alert',
      timestamp: '2026-11-03T09:30:00.000Z',
      source: 'siem',
      data: { alert_id: `a-${n}`, severity: 'high', details: { sender: 'ceo@examp1e.com' } },
    });
    expect(statusesOf(await each((n) => sender.send(event(n))))).toEqual([200]);
    const triaged = '/api/incidents?source=siem&status=triaged';
    await eventually(
      async () => (await viewer.get(triaged)).body.meta.total as number,
      (total) => total === AT_ONCE,
    );
  });

  it('processes several large bodies concurrently', async () => {
    const { admin } = world.clients;
    const mapping = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };
    await registerSource(admin, { source: 'large', format: 'mapping', mapping });
    // Simulates a recent change of the sources.
    const sources = world.actions.app.nest.get(WebhookSourcesService);
    const find = sources.find.bind(sources);
    const changed = jest.spyOn(sources, 'find').mockImplementation((name) => {
      sources.forget();
      return find(name);
    });
    const sender = new WebhookSender(world.actions.app.client, 'large');
    for (const n of [0, 1, 2, 3]) {
      const alerts = Array.from({ length: 1_001 }, (_, at) => ({
        id: `${n}-${at}`,
        name: `alert ${at}`,
        level: 'low',
      }));
      expect((await sender.send({ alerts })).status).toBe(202);
    }
    const events = '/api/webhook-events?source=large&status=processed';
    const { data } = await eventually(
      async () => (await admin.get(events)).body,
      ({ meta }) => meta.total === 4,
    );
    expect(data.map(({ attempts }: { attempts: number }) => attempts)).toEqual([1, 1, 1, 1]);
    changed.mockRestore();
  });

  it('runs playbooks with approvals and rolls their actions back, many at the same time', async () => {
    const playbook = await world.playbook([
      step('look', 'lookup_ip'),
      step('quarantine', 'quarantine_email'),
      step('block', 'block_sender', { approval_level: 'analyst' }),
    ]);
    const runs = await each(async (n) => {
      const raw_data = { message_id: `<${n}@example.net>`, sender: `s${n}@example.net` };
      const incident_id = await world.incident({ raw_data });
      const { run_id } = (await world.run(playbook, { incident_id })).body.data;
      return await world.untilEnded(playbook, run_id as string);
    });
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['completed']));
    const undone = await each((n) =>
      world.clients.senior.post(`/api/actions/${runs[n]!.steps[2]!.action_id}/rollback`, {
        reason: 'A false alarm.',
      }),
    );
    expect(statusesOf(undone).filter((status) => status >= 400)).toEqual([]);
  });

  it('repeats requests with a key, switches automation off and on, and verifies the trail meanwhile', async () => {
    const { admin, analyst } = world.clients;
    const body = { incident_type: 'malware', source: 'edr' };
    // On a slow machine, a request may wait too long for a connection. So the client repeats it with the same key.
    const create = (n: number) =>
      eventually(
        () => analyst.post('/api/incidents', body, { 'idempotency-key': `key-${n}` }),
        ({ status }) => status !== 503,
      );
    const turn = async (path: string) =>
      await admin.post(`/api/kill-switch/${path}`, { reason: 'An exercise.' });
    const [created, , verified] = await Promise.all([
      each((n) => create(n % 4)),
      turn('activate').then(() => turn('deactivate')),
      each(() => admin.get('/api/audit/verify')),
    ]);
    expect(statusesOf(created).filter((status) => ![201, 409].includes(status))).toEqual([]);
    expect(statusesOf(verified)).toEqual([200]);
  });

  it('answers requests while many other requests wait for changes', async () => {
    const { viewer } = world.clients;
    const left = new AbortController();
    const changes = '/api/incidents/changes?from=now&wait=30';
    const waiting = Array.from({ length: 20 }, () =>
      viewer.request('GET', changes, { signal: left.signal }).catch(() => undefined),
    );
    const { body } = await viewer.get('/api/incidents/changes?from=now&wait=1');
    expect(body.data.changes).toEqual([]);
    expect((await viewer.get('/api/incidents')).status).toBe(200);
    left.abort();
    await Promise.all(waiting);
  });

  it('delivers every notification, and returns both connections', async () => {
    await eventually(
      async () =>
        await world.actions.database.query<{ n: number }[]>(
          `select count(*)::integer as n from notification_deliveries where status = 'pending'`,
        ),
      ([row]) => row!.n === 0,
    );
    expect(receiver.events.length).toBeGreaterThan(AT_ONCE);
    const source = world.actions.app.nest.get(DataSource);
    // Background work also uses connections for short transactions.
    await eventually(
      async () =>
        await source.query<[{ n: number }]>(
          `select count(*)::integer as n from pg_stat_activity
            where datname = current_database() and state = 'idle in transaction'`,
        ),
      ([{ n }]) => n === 0,
    );
  });
});
