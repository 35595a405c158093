import { readFileSync } from 'node:fs';
import { RECEIPT_REFUSALS } from '../../src/webhooks/webhook-events.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { startTestApp } from '../support/test-app.js';

const PAGE = readFileSync('docs/monitoring.md', 'utf8');

describe('docs/monitoring.md', () => {
  it('has a row for every table of the database, with its size and its clean-up', async () => {
    const [, section] = /\n## What grows\n([\s\S]*?)\n#/.exec(PAGE)!;
    const rows = section!
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const named = rows.flatMap(([, tables]) =>
      [...tables!.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    for (const [, , why, size, gone] of rows) {
      expect([why, size, gone]).not.toContain('');
    }
    await using app = await startTestApp();
    const made = await app.sql<{ name: string }[]>(
      `select relname as name from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    );
    expect(named.sort()).toEqual(made.map(({ name }) => name).sort());
  });

  it('has a row for every code of webhook_errors_total', () => {
    const [, table] = /Codes of `webhook_errors_total`:\n([\s\S]*?)\n#/.exec(PAGE)!;
    const named = [...table!.matchAll(/`(\w+)`/g)].map(([, code]) => code);
    expect(named).toEqual(expect.arrayContaining([...RECEIPT_REFUSALS, 'internal_error']));
  });

  it('has SQL that deletes ended playbook runs and keeps their actions', async () => {
    const [, sql] = /# Delete old data[\s\S]*?```sql\n([\s\S]*?)```/.exec(PAGE)!;
    const world = await PlaybookWorld.start();
    try {
      const { viewer } = world.clients;
      const playbook = await world.playbook([step('isolate', 'isolate_host')]);
      const runs = `/api/playbooks/${playbook}/runs`;
      const run = async () => (await world.run(playbook, {})).body.data;
      const [ended, waiting] = [await run(), await run()];
      const action = ended.steps[0].action_id as string;
      await world.approve(action);
      await world.until(playbook, ended.run_id, 'completed');
      await world.actions.database.query(sql!.replaceAll("'1 year'", "'0 s'"));
      const left = await viewer.get(runs);
      expect(left.body.data.map(({ run_id }: { run_id: string }) => run_id)).toEqual([
        waiting.run_id,
      ]);
      expect((await viewer.get(`/api/playbook-runs/${ended.run_id}`)).status).toBe(404);
      expect(await world.actions.get(action)).toMatchObject({
        status: 'completed',
        playbook_run_id: ended.run_id,
      });
    } finally {
      await world.close();
    }
  });
});
