import {
  PlaybookWorld,
  RAW_DATA,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';

describe('running a playbook', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
  });
  afterAll(() => world?.close());
  beforeEach(() => {
    world.actions.vendor.requests.length = 0;
  });

  const paths = () => world.actions.calls.map(({ path }) => path);

  it('takes its steps one after the other and answers 200 when it has ended', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook([
      step('quarantine', 'quarantine_email'),
      step('block', 'block_sender'),
    ]);
    const { status, body } = await world.run(playbook, { incident_id });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      dry_run: false,
      playbook,
      playbook_version: 1,
      incident_id,
      status: 'completed',
      steps_completed: 2,
      steps_total: 2,
    });
    expect(statuses(body.data as ShownRun)).toEqual(['completed', 'completed']);
    expect(body.data.steps[0]).toMatchObject({
      parameters: { message_id: RAW_DATA.message_id },
      result: { success: true },
    });
    expect(paths()).toEqual(['/quarantine_email', '/block_sender']);
  });

  it('waits for an approval, goes on after it, and shows so all along', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook([
      step('quarantine', 'quarantine_email'),
      step('isolate', 'isolate_host'),
      step('block', 'block_sender'),
    ]);
    const answer = await world.run(playbook, { incident_id });
    expect(answer.status).toBe(202);
    const run = answer.body.data as ShownRun;
    expect(run).toMatchObject({ status: 'waiting_approval', steps_completed: 1 });
    expect(statuses(run)).toEqual(['completed', 'waiting_approval', 'pending']);
    expect(run.steps[1]).toMatchObject({ approval_level: 'senior' });
    const action = run.steps[1]!.action_id!;
    expect((await world.approve(action)).body.data).toMatchObject({ status: 'completed' });
    const ended = await world.until(playbook, run.run_id, 'completed');
    expect(statuses(ended)).toEqual(['completed', 'completed', 'completed']);
    expect(paths()).toEqual(['/quarantine_email', '/isolate_host', '/block_sender']);
  });
});
