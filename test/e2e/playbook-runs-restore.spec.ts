import { Transactions } from '../../src/platform/database/transactions.js';
import {
  cancelRunsOverRestore,
  noteRunsBeforeRestore,
} from '../../src/playbooks/runs/runs-across-restore.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';

describe('playbook runs over a restore', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
  });
  afterAll(() => world?.close());

  it('end where they would do again what they have done since the backup', async () => {
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('revoke', 'revoke_sessions', { parameters: { user: 'mallory' } }),
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
    ]);
    const waitingAt = async (position: number): Promise<string> => {
      const { run_id } = (await world.run(playbook)).body.data as ShownRun;
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
        `update playbook_runs set status = 'waiting_approval', completed_at = null where id = any($1)`,
        [[further, over]],
      );
      await tx.query(
        `update playbook_run_steps set status = 'waiting_approval', completed_at = null
          where run_id = any($1)`,
        [[further, over]],
      );
      return await cancelRunsOverRestore(tx);
    });

    expect(cancelled).toEqual([further, over].sort());
    expect((await world.get(playbook, same)).status).toBe('waiting_approval');
    const run = await world.get(playbook, further);
    expect(run).toMatchObject({ status: 'cancelled' });
    expect(run.error).toMatch(/^The database was restored from a backup/);
    expect(statuses(run)).toEqual(['cancelled', 'pending', 'pending']);
  });
});
