import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../src/audit/audit-log.js';
import { RecordedChangesRepository } from '../../src/audit/changes/recorded-changes.repository.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { Draining } from '../../src/platform/http/draining.js';
import type { ApiClient } from '../support/api-client.js';
import { ChangeReader } from '../support/change-reader.js';
import { as, inSession, makeKey, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';

const BODY = { incident_type: 'phishing', source: 'gateway', severity: 'high' };
const MAPPING = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };

describe('feeds of changes', () => {
  let app: TestApp;
  let analyst: ApiClient;
  let viewer: ApiClient;
  let key: string;

  beforeAll(async () => {
    app = await startTestApp();
    analyst = await as(app, 'analyst');
    ({ client: viewer, key } = await makeKey(app, 'viewer'));
  });
  afterAll(() => app?.close());

  const create = async (body: object = BODY): Promise<string> =>
    (await analyst.request('POST', '/api/incidents', { body })).body.data.id;
  const update = (id: string, body: object) =>
    analyst.request('PUT', `/api/incidents/${id}`, { body });
  const follow = async (query = '&from=now', limit = 100): Promise<ChangeReader> => {
    const reader = new ChangeReader(viewer, { limit });
    await reader.next(query);
    return reader;
  };

  it('answers all five incidents of one body to a reader with two per page', async () => {
    await registerSource(await as(app, 'admin'), { format: 'mapping', mapping: MAPPING });
    const reader = await follow('&from=now', 2);
    const alerts = [1, 2, 3, 4, 5].map((n) => ({ id: `five-${n}`, name: `n ${n}`, level: 'low' }));
    const { body } = await new WebhookSender(app.client).send({ alerts });
    const incidents: { incident_id: string }[] = body.incidents;
    const ids = incidents.map((one) => one.incident_id);
    await reader.toTheEnd();
    expect(ids).toHaveLength(5);
    expect(reader.idsOf('incident.created').sort()).toEqual([...ids].sort());
  });

  it('answers a change that began first and was committed last', async () => {
    const reader = await follow();
    const slow = app.nest.get(DataSource).createQueryRunner();
    await slow.startTransaction();
    try {
      // Takes its transaction number and the time now, before the incident that is created beside it.
      const before = await create();
      await slow.query(`update incidents set title = 'late' where id = $1`, [before]);
      await slow.query(
        `insert into audit_log (id, at, actor, action, subject_type, subject_id, details, writer, written, key_id, mac)
         select gen_random_uuid(), '2026-01-01', 'alice', 'incident.updated', 'incident', $1, '{"changed":["title"]}',
                writer, written, key_id, mac from audit_log limit 1`,
        [before],
      );
      const after = await create();
      await reader.toTheEnd();
      expect(reader.idsOf('incident.created')).toEqual([before, after]);
      expect(reader.idsOf('incident.updated')).toEqual([]);
      await slow.commitTransaction();
      await reader.toTheEnd();
      expect(reader.changes.at(-1)).toMatchObject({
        event: 'incident.updated',
        incident_id: before,
        changed: ['title'],
        incident: { title: 'late' },
      });
    } finally {
      await slow.release();
    }
  });

  describe('ends a waiting request with 401', () => {
    const wait = async (client: ApiClient, path: string) => {
      const { body } = await client.request('GET', `${path}?from=now`);
      const cursor = encodeURIComponent(body.data.cursor as string);
      const answer = client.request('GET', `${path}?wait=30&cursor=${cursor}`);
      // It waits: it has looked at least once.
      await sleep(700);
      return answer.then(({ status, headers }) => [status, headers['www-authenticate']]);
    };
    const admin = () => as(app, 'admin');

    it.each(['/api/incidents/changes', '/api/actions/changes'])(
      'when its key is revoked: %s',
      async (path) => {
        const { client, id } = await makeKey(app, 'viewer');
        const waiting = wait(client, path);
        await sleep(1_000);
        await (await admin()).request('DELETE', `/api/api-keys/${id}`);
        await create();
        expect(await waiting).toEqual([401, 'Bearer']);
      },
    );

    it.each(['the session is logged out', 'the user is disabled'])('when %s', async (why) => {
      const user = await makeUser(app, 'viewer');
      const client = await inSession(app, user);
      const waiting = wait(client, '/api/incidents/changes');
      await sleep(1_000);
      if (why.startsWith('the session')) await client.request('POST', '/logout');
      else {
        const body = { enabled: false };
        await (await admin()).request('PUT', `/api/users/${user.id}`, { body });
      }
      expect((await waiting)[0]).toBe(401);
    });
  });

  it('reads once for all requests that wait', async () => {
    const WAITERS = 40;
    const cursors: string[] = [];
    for (let at = 0; at < WAITERS; at += 1) {
      const { body } = await viewer.request('GET', '/api/incidents/changes?from=now');
      cursors.push(body.data.cursor as string);
    }
    const reads = jest.spyOn(app.nest.get(RecordedChangesRepository), 'read');
    try {
      const pages = cursors.map((cursor) =>
        viewer.request('GET', `/api/incidents/changes?wait=5&cursor=${encodeURIComponent(cursor)}`),
      );
      for (const { status, body } of await Promise.all(pages)) {
        expect([status, body.data.changes]).toEqual([200, []]);
      }
      // Each request reads for itself at the beginning, at the first look and at the end.
      expect(reads.mock.calls.length).toBeLessThan(4 * WAITERS);
    } finally {
      reads.mockRestore();
    }
    const waiting = cursors.map((cursor) =>
      viewer.request('GET', `/api/incidents/changes?wait=30&cursor=${encodeURIComponent(cursor)}`),
    );
    await sleep(1_500);
    const id = await create();
    for (const { body } of await Promise.all(waiting)) {
      expect(body.data.changes).toMatchObject([{ event: 'incident.created', incident_id: id }]);
    }
  });

  it('names the changed fields and shows the incident as it is now', async () => {
    const reader = await follow();
    const id = await create();
    await update(id, { severity: 'critical' });
    await update(id, { status: 'resolved', resolution: 'Blocked.' });
    await reader.toTheEnd();
    const now = { id, severity: 'critical', status: 'resolved' };
    expect(reader.changes).toMatchObject([
      { event: 'incident.created', incident: now },
      { event: 'incident.updated', changed: ['severity'], incident: now },
      { event: 'incident.updated', changed: ['status', 'resolution'], incident: now },
    ]);
    expect(new Set(reader.changes.map(({ change_id }) => change_id)).size).toBe(3);
  });

  it('tells of a deletion without the incident', async () => {
    const id = await create();
    const reader = await follow();
    await (await as(app, 'admin')).request('DELETE', `/api/incidents/${id}`);
    await reader.toTheEnd();
    expect(reader.changes).toEqual([
      expect.objectContaining({ event: 'incident.deleted', incident_id: id }),
    ]);
    expect(reader.changes[0]).not.toHaveProperty('incident');
  });

  it('lists what exists first when it begins at the beginning, then what changed meanwhile', async () => {
    const old = await Promise.all([create(), create(), create()]);
    const reader = await follow('', 2);
    const during = await create();
    await update(old[0], { severity: 'low' });
    await reader.toTheEnd();
    const listed = reader.idsOf('incident.listed');
    expect(listed).toEqual(expect.arrayContaining(old));
    expect(new Set(listed).size).toBe(listed.length);
    expect(reader.idsOf('incident.created')).toEqual([during]);
    expect(reader.idsOf('incident.updated')).toEqual([old[0]]);
  });

  it('follows actions from the request to the end', async () => {
    const reader = new ChangeReader(viewer, { path: '/api/actions/changes' });
    await reader.next('&from=now');
    const id = await create();
    const body = { action: 'lookup_domain', parameters: { domain: 'example.com' } };
    await analyst.request('POST', `/api/incidents/${id}/actions`, { body });
    await reader.toTheEnd();
    expect(reader.changes).toMatchObject([
      { event: 'action.requested', action: { incident_id: id, status: 'failed' } },
      { event: 'action.failed', action: { incident_id: id, status: 'failed' } },
    ]);
    const all = new ChangeReader(viewer, { path: '/api/actions/changes' });
    await all.toTheEnd();
    expect(all.changes).toMatchObject([{ event: 'action.listed' }]);
  });

  describe('a request that waits', () => {
    it('is answered soon after a change, and without one after its time', async () => {
      const reader = await follow();
      expect((await reader.next('&wait=1')).changes).toEqual([]);
      const waiting = reader.next('&wait=30');
      await sleep(100);
      const id = await create();
      expect((await waiting).changes).toMatchObject([{ incident_id: id }]);
    });

    it('holds no connection of the pool', async () => {
      const small = await startTestApp({
        database: app.database,
        settings: { DATABASE_POOL_SIZE: '2' },
      });
      const reader = small.client.with({ authorization: `Bearer ${key}` });
      const left = new AbortController();
      const waiting = Array.from({ length: 20 }, () =>
        reader
          .request('GET', '/api/incidents/changes?from=now&wait=30', { signal: left.signal })
          .catch(() => undefined),
      );
      try {
        await sleep(200);
        expect((await reader.request('GET', '/api/incidents')).status).toBe(200);
      } finally {
        left.abort();
        await Promise.all(waiting);
        await small.close();
      }
    });

    it('is answered when the service begins to stop', async () => {
      const stopping = await startTestApp({ database: app.database });
      const reader = stopping.client.with({ authorization: `Bearer ${key}` });
      const waiting = reader.request('GET', '/api/incidents/changes?from=now&wait=30');
      await sleep(200);
      stopping.nest.get(Draining).begin();
      expect((await waiting).body.data.changes).toEqual([]);
      await stopping.close();
    });
  });

  describe('a cursor', () => {
    const asked = (cursor: string, path = '/api/incidents/changes') =>
      viewer.request('GET', `${path}?cursor=${cursor}`);
    const fieldsOf = (cursor: string): unknown[] =>
      JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const made = (fields: unknown): string =>
      Buffer.from(JSON.stringify(fields)).toString('base64url');

    it('is refused when it is older than 30 days', async () => {
      const { cursor } = await follow();
      const fields = fieldsOf(cursor!);
      const aged = (days: number) => made(fields.with(2, Number(fields[2]) - days * 86_400_000));
      expect((await asked(aged(29))).status).toBe(200);
      const { status, body } = await asked(aged(31));
      expect(status).toBe(410);
      expect(body.error).toMatchObject({ code: 'cursor_expired', details: { reason: 'too_old' } });
    });

    it('is refused when the database was restored since', async () => {
      const { cursor } = await follow();
      const fields = fieldsOf(cursor!);
      const refused = { code: 'cursor_expired', details: { reason: 'database_restored' } };
      for (const other of [
        fields.with(3, '1'),
        fields.with(4, '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e'),
        fields.with(6, '999999999999:999999999999:'),
      ]) {
        const { status, body } = await asked(made(other));
        expect(status).toBe(410);
        expect(body.error).toMatchObject(refused);
      }
    });

    it('is refused when a restore has recorded itself in the audit trail', async () => {
      const { cursor } = await follow();
      await app.nest.get(Transactions).run((tx) =>
        app.nest.get(AuditLog).record(tx, {
          actor: 'system',
          action: 'audit.head_accepted',
          subject: { type: 'audit', id: 'chain' },
        }),
      );
      expect((await asked(cursor!)).body.error).toMatchObject({ code: 'cursor_expired' });
      const id = await create();
      const again = await follow('');
      await again.toTheEnd();
      expect(again.idsOf('incident.listed')).toContain(id);
      expect((await again.next()).changes).toEqual([]);
    });

    it('is refused when it is no cursor of the feed', async () => {
      const { cursor } = await follow();
      const fields = fieldsOf(cursor!);
      const wrong = [
        'x',
        made({}),
        made(fields.with(6, '5:4:')),
        made(fields.with(6, '1:9:4,4')),
        made(fields.with(6, '1:99999999999999999999:')),
        made([...fields, '1:9:', 'x', fields[4]]),
        made(fields.with(5, 'list')),
        made(fields.with(0, 2)),
      ];
      for (const one of wrong) expect([one, (await asked(one)).status]).toEqual([one, 422]);
      expect((await asked(cursor!, '/api/actions/changes')).status).toBe(422);
    });
  });
});
