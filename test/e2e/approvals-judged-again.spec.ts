import { RequiredLevels } from '../../src/actions/policy/required-levels.js';
import { ActionsRepository } from '../../src/actions/records/actions.repository.js';
import { Clock } from '../../src/platform/clock.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { requestedEarlier, whileHeld } from '../support/actions/held-change.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';

const HOUR = 3_600_000;

describe('an approval', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    world = await ActionWorld.start({ APPROVAL_RAISE_ON_CRITICAL: 'true' }, 2);
  });
  afterEach(() => world.vendor.forget());
  afterAll(() => world?.close());

  const wait = async (
    type: 'isolate_host' | 'revoke_sessions',
    incidentId?: string,
  ): Promise<string> => {
    const answer = await world.execute(type, incidentId ? { incidentId } : {});
    expect(answer.body.data.status).toBe('pending_approval');
    return answer.body.data.action_id;
  };
  const approve = (client: ApiClient, id: string, body: object = {}): Promise<Answer> =>
    client.request('POST', `/api/actions/${id}/approve`, { body });
  const put = (client: ApiClient, incidentId: string, body: object): Promise<Answer> =>
    client.request('PUT', `/api/incidents/${incidentId}`, { body });
  const codeOf = ({ status, body }: Answer) => [status, body.error?.code];
  const auditOf = async (action: string, subject: string) =>
    (
      await world.clients.admin.request(
        'GET',
        `/api/audit?action=${action}&subject=${encodeURIComponent(subject)}`,
      )
    ).body.data;
  const timelineOf = async (incidentId: string) =>
    (await world.clients.viewer.request('GET', `/api/incidents/${incidentId}/timeline`)).body.data;

  describe('of an action whose incident became critical', () => {
    it('determines the level once and reads the action once, under its lock', async () => {
      const id = await wait('isolate_host');
      const { nest } = world.app;
      const judge = jest.spyOn(nest.get(RequiredLevels), 'forDecision');
      const actions = nest.get(ActionsRepository);
      const [lock, find] = [jest.spyOn(actions, 'lockById'), jest.spyOn(actions, 'findById')];
      const { client } = await makeKey(world.app, 'senior');
      expect((await approve(client, id)).status).toBe(200);
      expect([judge, lock, find].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0]);
      jest.restoreAllMocks();
    });

    it('requires and shows the level of a critical incident', async () => {
      const { analyst, senior, viewer } = world.clients;
      const incidentId = await world.incident({ severity: 'high' });
      const id = await wait('revoke_sessions', incidentId);
      expect(await world.get(id)).toMatchObject({ approval_level: 'analyst' });
      expect((await put(analyst, incidentId, { severity: 'critical' })).status).toBe(200);

      const low = await approve(analyst, id);
      expect(codeOf(low)).toEqual([403, 'insufficient_approval_level']);
      expect(low.body.error).toMatchObject({ required_level: 'senior', your_level: 'analyst' });
      expect((await approve(senior, id)).body.data.status).toBe('completed');
      expect(await world.get(id)).toMatchObject({ approval_level: 'senior' });
      const list = `/api/incidents/${incidentId}/actions?approval_level=`;
      for (const [level, total] of [
        ['senior', 1],
        ['analyst', 0],
      ] as const) {
        const { body } = await viewer.request('GET', `${list}${level}`);
        expect(body.meta.total).toBe(total);
      }
      const [approved] = await auditOf('action.approved', `action:${id}`);
      expect(approved.details).toMatchObject({ approval_level: 'senior' });
    });

    it('is checked after a concurrent change of the severity', async () => {
      const incidentId = await world.incident({ severity: 'high' });
      const id = await wait('revoke_sessions', incidentId);
      const answer = await whileHeld(
        world.database,
        `update incidents set severity = 'critical' where id = $1`,
        [incidentId],
        () => approve(world.clients.analyst, id),
      );
      expect(codeOf(answer)).toEqual([403, 'insufficient_approval_level']);
      expect((await world.get(id)).status).toBe('pending_approval');
      expect(world.calls).toHaveLength(0);
    });

    it('requires for a rejection only the level of the request', async () => {
      const incidentId = await world.incident({ severity: 'high' });
      const id = await wait('revoke_sessions', incidentId);
      await put(world.clients.analyst, incidentId, { severity: 'critical' });
      const body = { reason: 'no' };
      const path = `/api/actions/${id}/reject`;
      expect((await world.clients.analyst.request('POST', path, { body })).status).toBe(200);
    });

    it('applies to a rollback, too', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident({ severity: 'high' });
      const id = (await world.execute('block_sender', { incidentId })).body.data.action_id;
      const rollBack = (client: ApiClient) =>
        client.request('POST', `/api/actions/${id}/rollback`, { body: { reason: 'x' } });
      const raced = await whileHeld(
        world.database,
        `update incidents set severity = 'critical' where id = $1`,
        [incidentId],
        () => rollBack(analyst),
      );
      expect(codeOf(raced)).toEqual([403, 'insufficient_approval_level']);
      expect(codeOf(await rollBack(analyst))).toEqual([403, 'insufficient_approval_level']);
      expect((await rollBack(senior)).body.data.status).toBe('completed');
    });
  });

  it('requires the level that the site has configured meanwhile', async () => {
    const id = await wait('revoke_sessions');
    const later = await startTestApp({
      database: world.app.database,
      settings: { APPROVAL_LEVELS: '{"revoke_sessions":"manager"}' },
    });
    try {
      const low = await approve((await makeKey(later, 'senior')).client, id);
      expect(low.body.error).toMatchObject({ required_level: 'manager', your_level: 'senior' });
    } finally {
      await later.close();
    }
    expect((await approve(world.clients.analyst, id)).status).toBe(200);
  });

  it('requires the level of the request if it would be lower now', async () => {
    const { analyst, senior } = world.clients;
    const incidentId = await world.incident({ severity: 'critical' });
    const id = await wait('revoke_sessions', incidentId);
    await put(senior, incidentId, { severity: 'low' });
    expect(codeOf(await approve(analyst, id))).toEqual([403, 'insufficient_approval_level']);
    expect((await approve(senior, id)).status).toBe(200);
  });

  describe('of an action of a critical incident', () => {
    it('is not made easier if somebody below the level lowers the severity', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident({ severity: 'critical' });
      const refused = await put(analyst, incidentId, { severity: 'high', status: 'triaged' });
      expect(codeOf(refused)).toEqual([403, 'insufficient_approval_level']);
      expect(refused.body.error).toMatchObject({ required_level: 'senior', your_level: 'analyst' });
      const shown = await analyst.request('GET', `/api/incidents/${incidentId}`);
      expect(shown.body.data).toMatchObject({ severity: 'critical', status: 'open' });
      const [told] = await auditOf('auth.level_refused', 'route:PUT /api/incidents/:id');
      expect(told).toMatchObject({ actor: world.names.analyst });

      for (const harmless of [{ severity: 'critical' }, { incident_type: 'bec' }]) {
        expect((await put(analyst, incidentId, harmless)).status).toBe(200);
      }
      expect((await put(senior, incidentId, { severity: 'high' })).status).toBe(200);
      const [lowered] = await auditOf('incident.severity_lowered', `incident:${incidentId}`);
      expect(lowered).toMatchObject({
        actor: world.names.senior,
        details: { severity: { from: 'critical', to: 'high' } },
      });
      expect((await timelineOf(incidentId)).at(-1)).toMatchObject({
        event: 'severity_lowered',
        actor: world.names.senior,
        summary: 'Lowered the severity from critical to high.',
      });
      expect((await put(analyst, incidentId, { severity: 'low' })).status).toBe(200);
    });

    it('is made easier by a lower severity if everybody may lower it, and the audit trail records this', async () => {
      const plain = await startTestApp({ database: world.app.database });
      try {
        const incidentId = await world.incident({ severity: 'critical' });
        const { client, name } = await makeKey(plain, 'analyst');
        expect((await put(client, incidentId, { severity: 'low' })).status).toBe(200);
        const [lowered] = await auditOf('incident.severity_lowered', `incident:${incidentId}`);
        expect(lowered.actor).toBe(name);
      } finally {
        await plain.close();
      }
    });
  });

  describe('that comes too late', () => {
    const TTL = '1440 minutes';

    it('is refused whether or not the job has rejected the action, whatever time a replica has', async () => {
      const { clock, restore } = ownClock();
      try {
        const id = await wait('isolate_host');
        await requestedEarlier(world.database.manager, id, TTL);
        clock.now = () => new Date(Date.now() - HOUR);
        const answer = await approve(world.clients.senior, id);
        expect(codeOf(answer)).toEqual([409, 'invalid_state']);
        expect(world.calls).toHaveLength(0);
      } finally {
        restore();
      }
    });

    it('is accepted until then, whatever time a replica has', async () => {
      const { clock, restore } = ownClock();
      try {
        const id = await wait('isolate_host');
        await requestedEarlier(world.database.manager, id, '1430 minutes');
        clock.now = () => new Date(Date.now() + HOUR);
        expect((await approve(world.clients.senior, id)).status).toBe(200);
      } finally {
        restore();
      }
    });

    it('is checked when it has locked the row, not when it requests the lock', async () => {
      const id = await wait('isolate_host');
      const answer = await whileHeld(
        world.database,
        `update actions set lease_until = null where id = $1`,
        [id.replace('act-', '')],
        () => approve(world.clients.senior, id),
        // It is late from now on; the transaction that waits is older.
        (change) => requestedEarlier(change, id, TTL),
      );
      expect(codeOf(answer)).toEqual([409, 'invalid_state']);
      expect(world.calls).toHaveLength(0);
    });

    function ownClock(): { readonly clock: Clock; readonly restore: () => void } {
      const clock = world.app.nest.get(Clock);
      const { now } = clock;
      return { clock, restore: () => (clock.now = now) };
    }
  });

  describe('of an action whose incident is resolved', () => {
    it('is refused without an explicit confirmation', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident();
      const id = await wait('isolate_host', incidentId);
      await put(analyst, incidentId, { status: 'resolved', resolution: 'Done.' });
      for (const body of [{}, { confirm_resolved: false, comment: 'x' }]) {
        const refused = await approve(senior, id, body);
        expect(codeOf(refused)).toEqual([409, 'invalid_state']);
        expect(refused.body.error.details).toEqual({ reason: 'incident_resolved' });
      }
      expect(codeOf(await approve(senior, id, { confirm_resolved: 'true' }))[0]).toBe(422);
      expect(world.calls).toHaveLength(0);
      const meant = await approve(senior, id, { confirm_resolved: true });
      expect(meant.body.data.status).toBe('completed');
      const [approved] = await auditOf('action.approved', `action:${id}`);
      expect(approved.details).toMatchObject({ incident_status: 'resolved' });
    });

    it('needs no confirmation once the incident is open again', async () => {
      const { analyst, senior } = world.clients;
      const incidentId = await world.incident();
      const id = await wait('isolate_host', incidentId);
      await put(analyst, incidentId, { status: 'resolved' });
      await put(analyst, incidentId, { status: 'open', reopen: true });
      expect((await approve(senior, id)).status).toBe(200);
    });

    it('is checked after a concurrent closing', async () => {
      const incidentId = await world.incident();
      const id = await wait('isolate_host', incidentId);
      const answer = await whileHeld(
        world.database,
        `update incidents set status = 'resolved' where id = $1`,
        [incidentId],
        () => approve(world.clients.senior, id),
      );
      expect(answer.body.error.details).toEqual({ reason: 'incident_resolved' });
      expect(world.calls).toHaveLength(0);
    });

    it('comes before or after a closing that races with 20 of them on two replicas', async () => {
      const elsewhere = (await makeKey(world.replicas[1]!, 'senior')).client;
      for (let round = 0; round < 5; round += 1) {
        const incidentId = await world.incident();
        const ids = [
          await wait('isolate_host', incidentId),
          await wait('isolate_host', incidentId),
        ];
        const approvals = Array.from({ length: 20 }, async (_, at) => {
          const id = ids[at % 2]!;
          const client = at % 4 < 2 ? world.clients.senior : elsewhere;
          return { id, ...(await approve(client, id)) };
        });
        const closed = await put(world.clients.analyst, incidentId, { status: 'resolved' });
        expect(closed.status).toBe(200);
        for (const { id, status, body } of await Promise.all(approvals)) {
          expect([200, 409]).toContain(status);
          if (status === 200) {
            expect(body.data.approved_at <= closed.body.data.updated_at).toBe(true);
            expect(world.vendor.effectsOf(id)).toBe(1);
          }
        }
        for (const id of ids) {
          const waits = (await world.get(id)).status === 'pending_approval';
          expect(world.vendor.effectsOf(id)).toBe(waits ? 0 : 1);
          if (!waits) continue;
          const after = await approve(elsewhere, id);
          expect(after.body.error.details).toEqual({ reason: 'incident_resolved' });
        }
      }
    });
  });
});
