import type { ApiClient } from '../support/api-client.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';
import { inSession, makeKey, makeUser } from '../support/principals.js';

describe('the rule of four eyes and playbooks', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start({ APPROVAL_FOUR_EYES: 'true' });
  });
  afterAll(() => world?.close());

  const waitingFor = async (client: ApiClient): Promise<string> => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const run = (await world.run(playbook, {}, { client })).body.data as ShownRun;
    return run.steps[0]!.action_id!;
  };

  it('lets nobody approve the action of a run that they started themselves', async () => {
    const { client } = await makeKey(world.actions.app, 'manager');
    const id = await waitingFor(client);
    const refused = await world.approve(id, client);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await world.approve(id)).body.data).toMatchObject({ status: 'completed' });
  });

  it('takes a key for the person who made it', async () => {
    const app = world.actions.app;
    const admin = await inSession(app, await makeUser(app, 'admin'));
    const body = { name: 'own-key', role: 'manager' };
    const { key } = (await admin.request('POST', '/api/api-keys', { body })).body.data;
    const id = await waitingFor(app.client.with({ authorization: `Bearer ${key}` }));
    expect((await world.approve(id, admin)).status).toBe(403);
  });

  it('lets another person approve a rollback of what somebody’s run did', async () => {
    const { client } = await makeKey(world.actions.app, 'manager');
    const playbook = await world.playbook([
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
    ]);
    const { steps } = (await world.run(playbook, {}, { client })).body.data as ShownRun;
    const path = `/api/actions/${steps[0]!.action_id}/rollback`;
    const answer = await client.request('POST', path, { body: { reason: 'a false alarm' } });
    expect([answer.status, answer.body.data.status]).toEqual([202, 'pending_approval']);
  });

  it('keeps who asked: the database refuses another name', async () => {
    const id = (await waitingFor(world.clients.senior)).replace('act-', '');
    for (const change of [`on_behalf_of = 'other'`, `playbook_run_id = null`]) {
      await expect(
        world.actions.database.query(`update actions set ${change} where id = $1`, [id]),
      ).rejects.toThrow('What an action was requested as cannot change.');
    }
  });
});
