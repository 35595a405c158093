import type { Answer, ApiClient } from '../support/api-client.js';
import { INCIDENT_EVENTS } from '../../src/incidents/change-records.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { eventually } from '../support/jobs/eventually.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';
import { inSession, makeKey, makeUser } from '../support/principals.js';
import { useStarted } from '../support/use-started.js';

describe('playbook runs under four eyes', () => {
  const world = useStarted(() =>
    PlaybookWorld.start({ APPROVAL_FOUR_EYES: 'true', TRIAGE_PROVIDER: 'rules' }),
  );

  const waitingFor = async (client: ApiClient): Promise<string> => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const run = (await world.run(playbook, {}, { client })).body.data as ShownRun;
    return run.steps[0]!.action_id!;
  };

  it('reject an approval by the principal who started the run', async () => {
    const { client } = await makeKey(world.actions.app, 'manager');
    const id = await waitingFor(client);
    const refused = await world.approve(id, client);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    expect((await world.approve(id)).body.data).toMatchObject({ status: 'completed' });
  });

  describe('in automatic runs', () => {
    const automatic = { auto_run: true, triggers: { incident_types: ['malware'] } };
    const sure = { classification: 'malicious', confidence: 0.95 };

    /** Returns the id of the action that waits for approval in the automatic run after the triage of a new incident. */
    const waitingAfter = async (
      triage: (incident: string) => Promise<Answer>,
      change?: (playbook: string) => Promise<void>,
    ): Promise<string> => {
      const playbook = await world.playbook([step('isolate', 'isolate_host')], automatic);
      await change?.(playbook);
      const id = await world.incident({ incident_type: 'malware' });
      expect((await triage(id)).status).toBe(200);
      const { run_id } = await world.startedRun(playbook);
      const run = await world.until(playbook, run_id, 'waiting_approval');
      expect(run).toMatchObject({ automatic: true, requested_by: 'system' });
      await world.clients.manager.delete(`/api/playbooks/${playbook}`);
      return run.steps[0]!.action_id!;
    };
    const verdictBy = (client: ApiClient) => (id: string) =>
      client.put(`/api/incidents/${id}`, { verdict: sure });

    /** Records a triage that a webhook source requested, so that no person caused the verdict. */
    const byNobody = async (incident: string) => {
      const { nest } = world.actions.app;
      await nest.get(Transactions).run(async (tx) => {
        const subject = { type: 'incident', id: incident };
        const payload = { triaged_by: 'webhook:gateway' };
        await nest
          .get(DomainEvents)
          .record(tx, { type: INCIDENT_EVENTS.triaged, subject, payload });
      });
      return await world.clients.viewer.get(`/api/incidents/${incident}`);
    };
    const changeBy = (client: ApiClient, body: object) => async (playbook: string) => {
      expect((await client.put(`/api/playbooks/${playbook}`, body)).status).toBe(200);
    };

    it('reject an approval by the author of the verdict', async () => {
      const { client, name } = await makeKey(world.actions.app, 'manager');
      const id = await waitingAfter(verdictBy(client));
      expect(await world.actions.get(id)).toMatchObject({ on_behalf_of: name });
      const refused = await world.approve(id, client);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
      expect((await world.approve(id, world.clients.admin)).body.data).toMatchObject({
        status: 'completed',
      });
    });

    it('accept any approval if a webhook source requested the triage', async () => {
      const id = await waitingAfter(byNobody);
      expect(await world.actions.get(id)).not.toHaveProperty('on_behalf_of');
      expect((await world.approve(id, world.clients.admin)).status).toBe(200);
    });

    it('reject an approval by the principal who requested the triage by the service', async () => {
      const { client } = await makeKey(world.actions.app, 'manager');
      const id = await waitingAfter((incident) =>
        client.post(`/api/incidents/${incident}/triage`, {}),
      );
      expect((await world.approve(id, client)).status).toBe(403);
      expect((await world.approve(id, world.clients.admin)).status).toBe(200);
    });

    it('reject decisions of an author of the playbook version with any key, even a rollback after the run was deleted', async () => {
      const app = world.actions.app;
      const author = await inSession(app, await makeUser(app, 'admin'));
      const id = await waitingAfter(byNobody, changeBy(author, { description: 'Mine.' }));
      const body = { name: `key-of-author-${id.slice(-6)}`, role: 'manager' };
      const { key } = (await author.post('/api/api-keys', body)).body.data;
      for (const client of [author, app.client.with({ authorization: `Bearer ${key}` })]) {
        expect((await world.approve(id, client)).body.error).toMatchObject({ code: 'forbidden' });
      }
      const { client: other } = await makeKey(app, 'manager');
      expect((await world.approve(id, other)).body.data).toMatchObject({ status: 'completed' });
      const { database } = world.actions;
      // Waits until all runs have ended, because an unfinished run stores its step again.
      await eventually(
        () => database.query('select from playbook_runs where completed_at is null'),
        (open) => open.length === 0,
      );
      await database.query('delete from playbook_run_steps');
      await database.query('delete from playbook_runs');
      const rollback = await author.post(`/api/actions/${id}/rollback`, {
        reason: 'a false alarm',
      });
      expect([rollback.status, rollback.body.data.status]).toEqual([202, 'pending_approval']);
    });

    it('reject an approval by the principals who set auto_run and trust_verdict', async () => {
      const [runs, trusts] = [
        await makeKey(world.actions.app, 'manager'),
        await makeKey(world.actions.app, 'manager'),
      ];
      const id = await waitingAfter(byNobody, async (playbook) => {
        await changeBy(runs.client, { auto_run: false })(playbook);
        await changeBy(runs.client, { auto_run: true })(playbook);
        await changeBy(trusts.client, { trust_verdict: true })(playbook);
        await changeBy(world.clients.admin, { description: 'A last word.' })(playbook);
      });
      for (const client of [runs.client, trusts.client, world.clients.admin]) {
        expect((await world.approve(id, client)).status).toBe(403);
      }
      // A person who set `auto_run` only in an earlier version is not an author of this version.
      expect((await world.approve(id)).body.data).toMatchObject({ status: 'completed' });
    });
  });
});
