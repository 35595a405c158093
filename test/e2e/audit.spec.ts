import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AuditWitness } from '../../src/audit/chain/audit-witness.js';
import { ChangeFeed } from '../../src/audit/changes/change-feed.js';
import { newId } from '../../src/platform/ids.js';
import type { ApiClient } from '../support/api-client.js';
import { ChangeReader } from '../support/change-reader.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, inSession, makeKey, makeUser } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

const BODY = { incident_type: 'phishing', source: 'gateway', severity: 'high' };
const MAPPING = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };

describe('feeds of changes', () => {
  const analyst = useStarted(() => as(app, 'analyst'));
  const viewer = useStarted(() => as(app, 'viewer'));

  const create = async (body: object = BODY): Promise<string> =>
    (await analyst.post('/api/incidents', body)).body.data.id;
  const update = (id: string, body: object) => analyst.put(`/api/incidents/${id}`, body);
  const follow = async (query = '&from=now', limit = 100): Promise<ChangeReader> => {
    const reader = new ChangeReader(viewer, { limit });
    await reader.next(query);
    return reader;
  };

  it('return all five incidents of one webhook body in pages of two', async () => {
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

  it('return a change that began first and was committed last', async () => {
    const reader = await follow();
    const slow = app.nest.get(DataSource).createQueryRunner();
    await slow.startTransaction();
    try {
      // The slow transaction gets its id and time before the other change.
      const before = await create();
      await slow.query(`update incidents set title = 'late' where id = $1`, [before]);
      await slow.query(
        `insert into audit_log (id, at, actor, action, subject_type, subject_id, details, key_id, mac)
         select $2, '2026-01-01', 'alice', 'incident.updated', 'incident', $1, '{"changed":["title"]}',
                key_id, mac from audit_log limit 1`,
        [before, newId()],
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

  describe('end a waiting request with 401', () => {
    /** Waits until the feed has been read `times` times. */
    const looked = async (times: number): Promise<void> => {
      const reads = jest.spyOn(app.nest.get(ChangeFeed), 'read');
      await eventually(
        () => reads.mock.calls.length,
        (count) => count >= times,
      );
      reads.mockRestore();
    };
    const wait = async (client: ApiClient, path: string) => {
      const { body } = await client.get(`${path}?from=now`);
      const cursor = encodeURIComponent(body.data.cursor as string);
      const answer = client.get(`${path}?wait=30&cursor=${cursor}`);
      await looked(2);
      return {
        answer: answer.then(({ status, headers }) => [status, headers['www-authenticate']]),
      };
    };
    const admin = () => as(app, 'admin');

    it('when its key is revoked', async () => {
      const { client, id } = await makeKey(app, 'viewer');
      const { answer } = await wait(client, '/api/actions/changes');
      await (await admin()).delete(`/api/api-keys/${id}`);
      await create();
      expect(await answer).toEqual([401, 'Bearer']);
    });

    it('when the user is disabled', async () => {
      const user = await makeUser(app, 'viewer');
      const { answer } = await wait(await inSession(app, user), '/api/incidents/changes');
      await (await admin()).put(`/api/users/${user.id}`, { enabled: false });
      expect((await answer)[0]).toBe(401);
    });
  });

  it('name the changed fields and show the current incident', async () => {
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

  it('report a deletion without the incident', async () => {
    const id = await create();
    const reader = await follow();
    await (await as(app, 'admin')).delete(`/api/incidents/${id}`);
    await reader.toTheEnd();
    expect(reader.changes).toEqual([
      expect.objectContaining({ event: 'incident.deleted', incident_id: id }),
    ]);
    expect(reader.changes[0]).not.toHaveProperty('incident');
  });

  it('list existing incidents with from=beginning, then the changes in between', async () => {
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

  it('follow actions from the request to the end', async () => {
    const reader = new ChangeReader(viewer, { path: '/api/actions/changes' });
    await reader.next('&from=now');
    const id = await create();
    const body = { action: 'lookup_domain', parameters: { domain: 'example.com' } };
    await analyst.post(`/api/incidents/${id}/actions`, body);
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
    it('returns soon after a change, or without a change after its timeout', async () => {
      const reader = await follow();
      expect((await reader.next('&wait=1')).changes).toEqual([]);
      const waiting = reader.next('&wait=30');
      const id = await create();
      expect((await waiting).changes).toMatchObject([{ incident_id: id }]);
    });
  });

  describe('a cursor', () => {
    const asked = (cursor: string, path = '/api/incidents/changes') =>
      viewer.get(`${path}?cursor=${cursor}`);
    const fieldsOf = (cursor: string): string[] =>
      Buffer.from(cursor, 'base64url').toString().split(' ');
    const made = (fields: readonly unknown[]): string =>
      Buffer.from(fields.join(' ')).toString('base64url');

    it('is rejected if it is too old, or older than a restore of the database', async () => {
      const { cursor } = await follow();
      const fields = fieldsOf(cursor!);
      const aged = (days: number) =>
        made(fields.with(2, String(Number(fields[2]) - days * 86_400_000)));
      expect((await asked(aged(29))).status).toBe(200);
      const old = await asked(aged(31));
      expect([old.status, old.body.error.details]).toEqual([410, { reason: 'too_old' }]);
      const refused = { code: 'cursor_expired', details: { reason: 'database_restored' } };
      for (const other of [
        fields.with(3, '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e'),
        fields.with(4, String(Number(fields[4]) - 1)),
        fields.with(4, '999999999999999999'),
        fields.with(5, '0'.repeat(64)),
      ]) {
        const { status, body } = await asked(made(other));
        expect(status).toBe(410);
        expect(body.error).toMatchObject(refused);
      }
    });

    it('is rejected if it is not a cursor of the feed', async () => {
      const { cursor } = await follow();
      const fields = fieldsOf(cursor!);
      const wrong = [
        'x',
        made([]),
        made(fields.with(4, '1'.repeat(19))),
        made(fields.with(5, 'x'.repeat(64))),
        made([...fields, '-'.repeat(36)]),
        made([...fields, 'list', '-'.repeat(36)]),
        made([...fields, 'list', fields[3], 'x']),
        made(fields.with(0, '1')),
      ];
      for (const one of wrong) expect([one, (await asked(one)).status]).toEqual([one, 422]);
      expect((await asked(cursor!, '/api/actions/changes')).status).toBe(422);
    });
  });
});

describe('the audit trail over HTTP', () => {
  const admin = useStarted(() => as(app, 'admin'));
  let keyId: string;

  beforeAll(async () => {
    const answer = await admin.post('/api/api-keys', { name: 'audited', role: 'viewer' });
    keyId = answer.body.data.id;
  });

  const list = async (query: string) => {
    const answer = await admin.get(`/api/audit?${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };

  it('shows managers the requests that were rejected because of the role', async () => {
    const manager = await as(app, 'manager');
    expect((await manager.get('/api/audit/export')).status).toBe(403);
    const refused = await manager.get('/api/audit?action=auth.role_refused');
    expect(refused.body.data.length).toBeGreaterThan(0);
    expect(new Set(refused.body.data.map(({ action }: { action: string }) => action))).toEqual(
      new Set(['auth.role_refused']),
    );
  });

  it('shows entries, with a hash once they are sealed', async () => {
    expect((await list(`subject=api_key:${keyId}`)).meta.total).toBe(1);
    const [entry] = await eventually(
      async () => (await list(`subject=api_key:${keyId}`)).data,
      ([found]) => found.hash !== undefined,
    );
    expect(entry).toMatchObject({
      subject: { type: 'api_key', id: keyId },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const same = await list(
      `actor=${encodeURIComponent(entry.actor)}&action=${entry.action}&from=${entry.at}&to=${entry.at}&sort=at`,
    );
    expect(same.data).toContainEqual(entry);
    expect(
      (await list(`to=${new Date(Date.parse(entry.at) - 60_000).toISOString()}`)).meta.total,
    ).toBe(0);
  });

  it.each(['sort=actor', 'action=Incident.created', 'from=yesterday', 'who=alice'])(
    'refuses the query %s with 422',
    async (query) => {
      expect((await admin.get(`/api/audit?${query}`)).status).toBe(422);
    },
  );
});

describe('the state of the audit trail', () => {
  // A separate app, because a test of the feeds inserts an unsigned entry into the trail.
  const app = useStarted(() => startTestApp());
  const admin = useStarted(() => as(app, 'admin'));

  const component = async () => (await admin.get('/api/health/detailed')).body.components.audit;

  const metric = async (name: string): Promise<number> => {
    const { text } = await app.get('/metrics');
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)![1]);
  };

  const until = (holds: () => Promise<boolean>) => eventually(holds, (is) => is);

  /** Waits until all entries are sealed and the service knows the last seal. */
  async function sealed(owner: Client): Promise<void> {
    await until(async () => {
      const { rows } = await owner.query<{ rows: string }>(
        'select count(*) as rows from audit_log',
      );
      return BigInt(rows[0]!.rows) === app.nest.get(AuditWitness).head.seq;
    });
  }

  it('is unhealthy on every replica after a replica found a changed entry, until a verification succeeds', async () => {
    const owner = new Client(app.database.url);
    await owner.connect();
    await sealed(owner);
    const change = async (actor: string) => {
      await owner.query('alter table audit_log disable trigger user');
      const { rows } = await owner.query<{ id: string; actor: string }>(
        `update audit_log a set actor = $1 from (select id, actor from audit_log order by id limit 1) o
         where a.id = o.id returning o.actor`,
        [actor],
      );
      await owner.query('alter table audit_log enable trigger user');
      return rows[0]!.actor;
    };
    const before = await change('mallory');
    const { data } = (await admin.get('/api/audit/verify')).body;
    expect(data).toMatchObject({ valid: false, first_invalid_id: expect.any(String) });
    // A new replica, which learns the fault from the database, like a replica after a restart.
    const replica = await startTestApp({ database: app.database });
    try {
      const elsewhere = await as(replica, 'admin');
      const status = async () =>
        (await elsewhere.get('/api/health/detailed')).body.components.audit.status;
      await until(async () => (await status()) === 'unhealthy');
      expect((await app.get('/health')).body.status).toBe('degraded');
      await until(async () => (await metric('audit_chain_ok')) === 0);
      await change(before);
      const found = (await elsewhere.get('/api/audit/verify')).body.data;
      expect(found).toMatchObject({ valid: true });
      await until(async () => (await status()) === 'healthy');
      await until(async () => (await component()).status === 'healthy');
    } finally {
      await replica.close();
      await owner.end();
    }
  });

  it('makes a feed answer 503 while sealing has stopped because the chain was changed', async () => {
    const owner = new Client(app.database.url);
    await owner.connect();
    await sealed(owner);
    const feed = async () => (await admin.get('/api/incidents/changes?from=now')).status;
    expect(await feed()).toBe(200);
    await owner.query('update audit_chain set seq = seq - 1');
    expect(await feed()).toBe(503);
    await owner.query('update audit_chain set seq = seq + 1');
    expect(await feed()).toBe(200);
    await owner.end();
  });
});
