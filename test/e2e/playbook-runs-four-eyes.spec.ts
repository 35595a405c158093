import type { Answer, ApiClient } from '../support/api-client.js';
import { INCIDENT_EVENTS } from '../../src/incidents/change-records.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { DomainEvents } from '../../src/platform/jobs/events/domain-events.js';
import { eventually } from '../support/jobs/eventually.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';
import { inSession, makeKey, makeUser } from '../support/principals.js';

describe('the rule of four eyes and playbooks', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start({ APPROVAL_FOUR_EYES: 'true', TRIAGE_PROVIDER: 'rules' });
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

  describe('and runs that start by themselves', () => {
    const automatic = { auto_run: true, triggers: { incident_types: ['malware'] } };
    const sure = { classification: 'malicious', confidence: 0.95 };

    /** The action that waits in the automatic run that the triage of a new incident begins. */
    const waitingAfter = async (triage: (incident: string) => Promise<Answer>): Promise<string> => {
      const playbook = await world.playbook([step('isolate', 'isolate_host')], automatic);
      const id = await world.incident({ incident_type: 'malware' });
      expect((await triage(id)).status).toBe(200);
      const [{ run_id }] = (await eventually(
        () => world.runsOf(playbook),
        (runs) => runs.length > 0,
      )) as [ShownRun];
      const run = await world.until(playbook, run_id, 'waiting_approval');
      expect(run).toMatchObject({ automatic: true, requested_by: 'system' });
      await world.clients.manager.request('DELETE', `/api/playbooks/${playbook}`);
      return run.steps[0]!.action_id!;
    };
    const verdictBy = (client: ApiClient) => (id: string) =>
      client.request('PUT', `/api/incidents/${id}`, { body: { verdict: sure } });

    it('takes who gave the verdict for who asked', async () => {
      const { client, name } = await makeKey(world.actions.app, 'manager');
      const id = await waitingAfter(verdictBy(client));
      expect(await world.actions.get(id)).toMatchObject({ on_behalf_of: name });
      const refused = await world.approve(id, client);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
      expect((await world.approve(id)).body.data).toMatchObject({ status: 'completed' });
    });

    it('takes nobody for who asked where a webhook source wanted the triage', async () => {
      const id = await waitingAfter(async (incident) => {
        const { nest } = world.actions.app;
        await nest.get(Transactions).run(async (tx) => {
          const payload = { triaged_by: 'webhook:gateway' };
          const subject = { type: 'incident', id: incident };
          await nest.get(DomainEvents).record(tx, {
            type: INCIDENT_EVENTS.triaged,
            subject,
            payload,
          });
        });
        return await world.clients.viewer.request('GET', `/api/incidents/${incident}`);
      });
      expect(await world.actions.get(id)).not.toHaveProperty('on_behalf_of');
      expect((await world.approve(id)).status).toBe(200);
    });

    it('takes who asked for the triage for who asked, where the service gave the verdict', async () => {
      const { client } = await makeKey(world.actions.app, 'manager');
      const id = await waitingAfter((incident) =>
        client.request('POST', `/api/incidents/${incident}/triage`, { body: {} }),
      );
      expect((await world.approve(id, client)).status).toBe(403);
      expect((await world.approve(id)).status).toBe(200);
    });
  });

  it('lets someone else approve the rollback of a run’s action', async () => {
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
