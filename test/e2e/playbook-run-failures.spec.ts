import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';

describe('a step of a playbook run that fails', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
    await world.actions.database.query(
      `insert into notification_channels (id, name, name_key, type, enabled, events, min_severity, config, created_by)
       values (gen_random_uuid(), 'told', 'told', 'webhook', true, '{playbook.step_failed}', 'low', '{}', 'test')`,
    );
  });
  afterEach(() => {
    world.actions.vendor.plan = undefined;
  });
  afterAll(() => world?.close());

  const ABSENT = { parameters: { ip: '{{ incident.raw_data.absent }}' } };

  const run = async (onError: 'stop' | 'continue') => {
    const incident = await world.incident();
    const playbook = await world.playbook([
      step('look', 'lookup_ip', { ...ABSENT, on_error: onError }),
      step('again', 'lookup_ip'),
    ]);
    const { run_id } = (await world.run(playbook, { incident_id: incident })).body.data;
    await world.until(playbook, run_id, ({ completed_at }) => completed_at !== undefined);
    return { incident, playbook, run_id };
  };
  const read = async (path: string) =>
    (await world.clients.viewer.request('GET', path)).body.data as Record<string, unknown>[];

  /** What a channel is told of the run, once for each step. */
  const told = (runId: string) =>
    world.actions.database.query<{ payload: object }[]>(
      `select payload from notification_deliveries where subject_id = $1`,
      [runId],
    );

  it('is in the timeline of the incident, in an event, and in the outcome of the run', async () => {
    const { incident, playbook, run_id } = await run('continue');
    expect(await world.get(playbook, run_id)).toMatchObject({
      status: 'completed',
      outcome: 'partial',
    });
    const entries = await read(`/api/incidents/${incident}/timeline`);
    expect(entries.filter(({ event }) => event === 'playbook_step_failed')).toMatchObject([
      {
        summary: expect.stringMatching(
          new RegExp(`^Step look of the playbook ${playbook} \\(version 1\\) failed: .*absent`),
        ),
        subject: { type: 'playbook_run', id: run_id },
      },
    ]);
    expect(await told(run_id)).toMatchObject([
      { payload: { playbook, step: 'look', incident_id: incident, automatic: false } },
    ]);
  });

  it('is found by the outcome of its run', async () => {
    const stopped = await run('stop');
    const partial = await run('continue');
    const of = async (outcome: string) =>
      (await read(`/api/playbook-runs?outcome=${outcome}&per_page=100`)).map(
        ({ run_id }) => run_id,
      );
    expect(await of('failed')).toContain(stopped.run_id);
    expect(await of('partial')).toContain(partial.run_id);
    expect(await of('partial,failed')).toEqual(
      expect.arrayContaining([stopped.run_id, partial.run_id]),
    );
    const succeeded = await of('succeeded,cancelled');
    for (const { run_id } of [stopped, partial]) expect(succeeded).not.toContain(run_id);
    const wrong = await world.clients.viewer.request('GET', '/api/playbook-runs?outcome=done');
    expect(wrong.status).toBe(422);
  });

  it('is told once, with its action, when its action failed', async () => {
    world.actions.vendor.plan = () => ({ behaviour: 'refuse', afterMs: 0 });
    const incident = await world.incident();
    const playbook = await world.playbook([step('look', 'lookup_ip')]);
    const { run_id } = (await world.run(playbook, { incident_id: incident })).body.data;
    const ended = await world.until(playbook, run_id, 'failed');
    expect(await told(run_id)).toMatchObject([
      { payload: { step: 'look', action_id: ended.steps[0]!.action_id } },
    ]);
  });
});
