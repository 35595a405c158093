import { Transactions } from '../../src/platform/database/transactions.js';
import { AuditLog } from '../../src/audit/audit-log.js';
import { timelineOfCommand } from '../../src/incidents/timeline/incident-timeline.js';
import {
  cancelRunsOverRestore,
  noteRunsBeforeRestore,
  tellOfCancelledRuns,
} from '../../src/playbooks/runs/runs-across-restore.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';

describe('playbook runs over a restore', () => {
  let world: PlaybookWorld;
  let incident_id: string;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
  });
  afterAll(() => world?.close());

  /** The events of the timeline that are about the run. */
  const told = async (run: string): Promise<string[]> => {
    const path = `/api/incidents/${incident_id}/timeline?per_page=100`;
    const { body } = await world.clients.viewer.request('GET', path);
    const entries = body.data as { event: string; subject?: { id: string } }[];
    return entries.filter(({ subject }) => subject?.id === run).map(({ event }) => event);
  };

  it('are cancelled where going on would repeat a step, and tell what their steps came to', async () => {
    incident_id = await world.incident();
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('revoke', 'revoke_sessions', { parameters: { user: 'mallory' } }),
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
    ]);
    const waitingAt = async (position: number): Promise<string> => {
      const { run_id } = (await world.run(playbook, { incident_id })).body.data as ShownRun;
      for (let at = 0; at < position; at += 1) {
        const waiting = await world.until(playbook, run_id, ({ steps }) => {
          return steps[at]!.status === 'waiting_approval';
        });
        await world.approve(waiting.steps[at]!.action_id!);
      }
      const is = ({ steps }: ShownRun) => steps[position]?.status === 'waiting_approval';
      await world.until(playbook, run_id, position === 2 ? 'completed' : is);
      return run_id;
    };
    const same = await waitingAt(0);
    const further = await waitingAt(1);
    const over = await waitingAt(2);

    const cancelled = await world.actions.app.nest.get(Transactions).run(async (tx) => {
      await noteRunsBeforeRestore(tx);
      // As a backup had them in which all three waited for their first approval.
      await tx.query(`delete from playbook_run_steps where position > 0 and run_id = any($1)`, [
        [further, over],
      ]);
      await tx.query(
        `update playbook_runs set status = 'waiting_approval', completed_at = null, steps_completed = 0 where id = any($1)`,
        [[further, over]],
      );
      await tx.query(
        `update playbook_run_steps set status = 'waiting_approval', completed_at = null
          where run_id = any($1)`,
        [[further, over]],
      );
      const runs = await cancelRunsOverRestore(tx);
      const audit = world.actions.app.nest.get(AuditLog);
      const timeline = timelineOfCommand(tx.dataSource);
      await tellOfCancelledRuns(tx, runs, { audit, timeline });
      return runs;
    });

    expect(cancelled.map(({ id }) => id)).toEqual([further, over].sort());
    expect((await world.get(playbook, same)).status).toBe('waiting_approval');
    const run = await world.get(playbook, further);
    expect(run).toMatchObject({ status: 'cancelled' });
    expect(run.error).toMatch(/^The database was restored from a backup/);
    expect(statuses(run)).toEqual(['completed', 'pending', 'pending']);
    expect(run.steps[0]!.result).toMatchObject({ success: true });
    expect(run).toMatchObject({ steps_completed: 1, steps_failed: 0 });
    expect(await told(further)).toEqual(['playbook_started', 'playbook_cancelled']);
    expect(await told(same)).toEqual(['playbook_started']);
    const audit = await world.clients.manager.request('GET', `/api/audit?subject=${further}`);
    expect(audit.body.data[0]).toMatchObject({
      action: 'playbook.run_cancelled',
      actor: 'system',
      details: { error: run.error, steps_completed: 1, steps_total: 3 },
    });
  });
});
