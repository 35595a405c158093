import { Logger } from '@nestjs/common';
import { PlaybookRunner } from '../../src/playbooks/runs/playbook-runner.js';
import { RunQueue } from '../../src/playbooks/runs/run-queue.js';
import { eventually } from '../support/jobs/eventually.js';
import { PlaybookWorld, type ShownRun, step } from '../support/playbooks/playbook-world.js';

const AUTO = { auto_run: true, triggers: { incident_types: ['malware'] } };

describe('the signals of playbook runs', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await world.actions.database.query(`update playbooks set deleted_at = now()`);
  });
  afterAll(() => world?.close());

  const metric = async (name: string): Promise<number | undefined> => {
    const { text } = await world.actions.app.request('GET', '/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };
  const total = (automatic: boolean, outcome: string) =>
    metric(`playbook_runs_total{automatic="${automatic}",outcome="${outcome}"}`);
  const looksAt = (ip: string, on_error: 'stop' | 'continue') =>
    step(`look_at_${on_error}`, 'lookup_ip', { parameters: { ip }, on_error });
  const unreadable = '{{ incident.raw_data.no_such_field }}';

  /** Whatever was said at the level of a warning about runs of playbooks. */
  const warnings = () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    return () =>
      (warn.mock.calls as unknown[][]).filter(
        ([about]) => (about as { playbook_run?: string }).playbook_run,
      );
  };
  const runAfterTriage = async (playbook: string): Promise<[ShownRun, string]> => {
    const id = await world.incident({ incident_type: 'malware', severity: 'high' });
    const body = { verdict: { classification: 'malicious' } };
    await world.clients.analyst.request('PUT', `/api/incidents/${id}`, { body });
    const [{ run_id }] = (await eventually(
      () => world.runsOf(playbook),
      (runs) => runs.length > 0,
    )) as [ShownRun];
    return [await world.until(playbook, run_id, ({ completed_at }) => !!completed_at), id];
  };
  const lastOfTimeline = async (incident: string): Promise<string> => {
    const path = `/api/incidents/${incident}/timeline?per_page=100`;
    const { body } = await world.clients.viewer.request('GET', path);
    const entries = body.data as { event: string; summary: string }[];
    return entries.filter(({ event }) => event.startsWith('playbook_')).at(-1)!.summary;
  };

  it('are a warning and a count when an automatic run fails', async () => {
    const told = warnings();
    const playbook = await world.playbook([looksAt(unreadable, 'stop')], AUTO);
    const before = await total(true, 'failed');
    const [run, incident] = await runAfterTriage(playbook);
    expect(run).toMatchObject({ status: 'failed', steps_failed: 1, steps_completed: 0 });
    expect(told()).toEqual([
      [{ playbook_run: run.run_id, playbook, incident }, 'An automatic playbook run failed.'],
    ]);
    expect(await total(true, 'failed')).toBe(before! + 1);
  });

  it('say so when a run came to its end although steps of it failed', async () => {
    const told = warnings();
    const steps = [looksAt(unreadable, 'continue'), step('look', 'lookup_ip')];
    const playbook = await world.playbook(steps, AUTO);
    const before = [await total(true, 'partial'), await total(true, 'succeeded')];
    const [run, incident] = await runAfterTriage(playbook);
    expect(run).toMatchObject({ status: 'completed', steps_failed: 1, steps_completed: 1 });
    expect(await lastOfTimeline(incident)).toBe(
      `Completed the playbook ${playbook} (version 1): 1 of 2 steps failed.`,
    );
    expect(told().map(([, words]) => words)).toEqual([
      'An automatic playbook run completed, but 1 of 2 steps failed.',
    ]);
    const after = [await total(true, 'partial'), await total(true, 'succeeded')];
    expect(after).toEqual([before[0]! + 1, before[1]]);
  });

  it('are no warning for whoever has the answer', async () => {
    const told = warnings();
    const playbook = await world.playbook([looksAt(unreadable, 'continue')]);
    const before = await total(false, 'partial');
    expect((await world.run(playbook)).body.data).toMatchObject({ steps_failed: 1 });
    expect(told()).toEqual([]);
    expect(await total(false, 'partial')).toBe(before! + 1);
  });

  it('count what is due and not begun, and since when, apart from what is under way', async () => {
    const { nest } = world.actions.app;
    await nest.get(RunQueue).beforeApplicationShutdown();
    jest.spyOn(nest.get(PlaybookRunner), 'carryOn').mockResolvedValue();
    const playbook = await world.playbook([step('look', 'lookup_ip')]);
    const run_id = async () => ((await world.run(playbook)).body.data as ShownRun).run_id;
    const [due] = [await run_id(), await run_id()];
    await world.actions.database.query(
      `update playbook_runs set lease_until = null, due_at = now() - interval '90 s' where id = $1`,
      [due],
    );
    const gauges = await eventually(
      async () => [
        await metric('playbook_runs{status="due"}'),
        await metric('playbook_runs{status="running"}'),
      ],
      ([first]) => first === 1,
    );
    expect(gauges).toEqual([1, 1]);
    const oldest = await metric('playbook_runs_oldest_due_seconds');
    expect(oldest).toBeGreaterThanOrEqual(90);
    expect(oldest).toBeLessThan(90 + 60);
    const health = await world.clients.admin.request('GET', '/health/detailed');
    expect(health.body.components.jobs).toMatchObject({ playbook_runs_due: 1 });
  });
});
