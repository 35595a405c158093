import {
  chances,
  generatedSteps,
  RAW_DATA,
  VARIABLES,
} from '../support/playbooks/generated-playbook.js';
import { eventually } from '../support/jobs/eventually.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';

const PLAYBOOKS = 30;
const AUTO = { auto_run: true, triggers: { incident_types: ['phishing'] } };

describe('a step that the verdict decides, in an automatic run', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start({ TRIAGE_PROVIDER: 'rules' });
  });
  afterEach(() => world.actions.vendor.forget());
  afterAll(() => world?.close());

  const triaged = async (playbook: string, incidentId: string, classification: string) => {
    const path = `/api/incidents/${incidentId}`;
    const body = { verdict: { classification } };
    expect((await world.clients.analyst.request('PUT', path, { body })).status).toBe(200);
    const [run] = await eventually(
      () => world.runsOf(playbook),
      (runs) => runs.length > 0,
    );
    return run!.run_id;
  };
  const triagedAndRan = async (playbook: string, classification: string): Promise<ShownRun> => {
    const runId = await triaged(playbook, await world.incident(), classification);
    return await world.until(playbook, runId, ({ status }) => status !== 'running');
  };

  it.each([
    ['malicious', ['skipped', 'waiting_approval'], 'waiting_approval'],
    ['benign', ['failed', 'pending'], 'failed'],
  ])('asks an analyst when an earlier one ends the run unless it is %s', async (...expected) => {
    const [classification, steps, status] = expected;
    const condition = 'verdict.classification == "malicious" ? false : 1 / 0 == 1';
    const playbook = await world.playbook(
      [step('gate', 'lookup_ip', { condition }), step('act', 'block_sender')],
      AUTO,
    );
    const run = await triagedAndRan(playbook, classification);
    expect(statuses(run)).toEqual(steps);
    expect(run.status).toBe(status);
    expect(world.actions.calls).toEqual([]);
    if (status === 'failed') return;
    const [, act] = run.steps;
    expect(act).toMatchObject({ approval_level: 'analyst' });
    await world.approve(act!.action_id!, world.clients.analyst);
    await world.until(playbook, run.run_id, 'completed');
    expect(world.actions.calls.map(({ path }) => path)).toEqual(['/block_sender']);
  });

  it('asks nobody after one that the run goes on from, however it ends', async () => {
    const condition = 'verdict.classification == "malicious" ? false : 1 / 0 == 1';
    const playbook = await world.playbook(
      [step('gate', 'lookup_ip', { condition, on_error: 'continue' }), step('act', 'block_sender')],
      AUTO,
    );
    const run = await triagedAndRan(playbook, 'benign');
    expect(statuses(run)).toEqual(['failed', 'completed']);
  });

  it(`needs the level that a dry run told, for ${PLAYBOOKS} playbooks of any steps`, async () => {
    let differing = 0;
    for (let seed = 1; seed <= PLAYBOOKS; seed += 1) {
      const source = `tool-${seed}`;
      const playbook = await world.playbook(generatedSteps(chances(seed)), {
        variables: VARIABLES,
        auto_run: true,
        triggers: { sources: [source] },
      });
      const incident_id = await world.incident({ source, raw_data: RAW_DATA });
      const runId = await triaged(playbook, incident_id, 'malicious');
      const run = await world.untilEnded(playbook, runId);
      const answer = await world.run(playbook, { incident_id, dry_run: true });
      const told = answer.body.data as ShownRun;
      for (const [at, step] of run.steps.entries()) {
        const { decision, approval_level, automatic_approval_level } = told.steps[at]!;
        if (step.action_id === undefined) continue;
        const about = { seed, decision, step: step.name };
        expect({ ...about, level: step.approval_level }).toEqual({
          ...about,
          level: automatic_approval_level,
        });
        if (approval_level !== automatic_approval_level) differing += 1;
      }
    }
    expect(differing).toBeGreaterThan(0);
  });
});
