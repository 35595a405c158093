import { ActionWorld } from '../support/actions/action-world.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { inSession, makeKey, makeUser } from '../support/principals.js';
import { useStarted } from '../support/use-started.js';

describe('the rule of four eyes', () => {
  const world = useStarted(() => ActionWorld.start({ APPROVAL_FOUR_EYES: 'true' }));

  afterEach(() => world.vendor.forget());

  const post = (client: ApiClient, id: string, what: string, body: object = {}): Promise<Answer> =>
    client.post(`/api/actions/${id}/${what}`, body);
  const rollBack = (client: ApiClient, id: string) =>
    post(client, id, 'rollback', { reason: 'a false alarm' });
  const codeOf = ({ status, body }: Answer) => [status, body.error?.code];
  const request = async (...[type, more]: Parameters<ActionWorld['execute']>): Promise<string> =>
    (await world.execute(type, more)).body.data.action_id;
  const colleague = async (role: 'analyst' | 'senior') => await makeKey(world.app, role);

  let made = 0;
  async function keyMadeBy(client: ApiClient, role: string): Promise<ApiClient> {
    const body = { name: `own-${(made += 1)}`, role };
    const { data } = (await client.post('/api/api-keys', body)).body;
    return world.app.client.with({ authorization: `Bearer ${data.key}` });
  }

  it('treats a key as the person who created it', async () => {
    const admin = await inSession(world.app, await makeUser(world.app, 'admin'));
    const own = await keyMadeBy(admin, 'manager');
    const through = await keyMadeBy(await keyMadeBy(admin, 'admin'), 'manager');
    const asked = [
      [admin, own],
      [own, admin],
      [own, through],
      [through, own],
    ] as const;
    for (const [requester, approver] of asked) {
      const id = await request('isolate_host', { client: requester });
      expect(codeOf(await post(approver, id, 'approve'))).toEqual([403, 'forbidden']);
      expect((await world.get(id)).status).toBe('pending_approval');
      expect((await post(approver, id, 'reject', { reason: 'a mistake' })).status).toBe(200);
    }
    expect(world.calls).toHaveLength(0);
    const refused = '/api/audit?action=auth.own_request_refused';
    expect((await world.clients.admin.get(refused)).body.data.length).toBeGreaterThan(0);
    const other = await request('isolate_host', { client: own });
    expect((await post(world.clients.senior, other, 'approve')).body.data.status).toBe('completed');
  });

  it('requires the approval of another person if requesters roll back their own action', async () => {
    const incidentId = await world.incident();
    const { client: analyst, name } = await colleague('analyst');
    const { client: other, name: otherName } = await colleague('analyst');
    const original = await request('quarantine_email', { client: analyst, incidentId });
    expect((await world.get(original)).status).toBe('completed');

    const answer = await rollBack(analyst, original);
    expect(answer.status).toBe(202);
    const id: string = answer.body.data.rollback_action_id;
    expect(answer.body.data).toEqual({
      rollback_action_id: id,
      original_action_id: original,
      status: 'pending_approval',
      approval_level: 'analyst',
      expires_at: expect.any(String),
    });
    expect(await world.get(original)).toMatchObject({ rolled_back_by: id });
    expect(codeOf(await post(analyst, id, 'approve'))).toEqual([403, 'forbidden']);
    expect(codeOf(await rollBack(analyst, original))).toEqual([409, 'invalid_state']);
    expect(codeOf(await rollBack(other, original))).toEqual([409, 'invalid_state']);
    expect(world.vendor.effectsOf(id)).toBe(0);

    expect((await post(other, id, 'approve')).body.data.status).toBe('completed');
    expect(world.vendor.effectsOf(id)).toBe(1);
    expect(await world.get(id)).toMatchObject({
      action_type: 'release_email',
      incident_id: incidentId,
      rollback_of: original,
      requested_by: name,
      approved_by: otherName,
    });
    const timeline = await analyst.get(`/api/incidents/${incidentId}/timeline`);
    expect(timeline.body.data.map(({ summary }: { summary: string }) => summary)).toContain(
      `Requested release_email "<m@example.net>" to roll back ${original}, which waits for approval at level analyst. Reason: a false alarm`,
    );
  });

  it('lets the requester reject a requested rollback and request it again', async () => {
    const { client: analyst } = await colleague('analyst');
    const original = await request('block_sender', { client: analyst });
    const first = (await rollBack(analyst, original)).body.data.rollback_action_id;
    expect((await post(analyst, first, 'reject', { reason: 'a mistake' })).status).toBe(200);
    expect(await world.get(original)).not.toHaveProperty('rolled_back_by');
    expect((await rollBack(analyst, original)).status).toBe(202);
  });

  it("executes the rollback of another person's action immediately", async () => {
    const original = await request('block_sender');
    const { client } = await colleague('analyst');
    const answer = await rollBack(client, original);
    expect([answer.status, answer.body.data.status]).toEqual([200, 'completed']);
  });
});
