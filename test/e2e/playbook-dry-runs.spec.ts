import { setTimeout as sleep } from 'node:timers/promises';
import type { DryDecision } from '../../src/playbooks/runs/dry-run.js';
import { FULL } from '../support/chaos/figures.js';
import {
  chances,
  generatedSteps,
  RAW_DATA,
  VARIABLES,
} from '../support/playbooks/generated-playbook.js';
import {
  PlaybookWorld,
  type ShownRun,
  type ShownStep,
  step,
} from '../support/playbooks/playbook-world.js';

const PLAYBOOKS = FULL ? 500 : 40;

describe('a dry run', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start();
  });
  afterAll(() => world?.close());

  const dry = async (playbook: string, body: object = {}): Promise<ShownRun> => {
    const answer = await world.run(playbook, { ...body, dry_run: true });
    expect(answer.status).toBe(200);
    return answer.body.data as ShownRun;
  };

  it('tells what each step would do, which level it would need, and does nothing', async () => {
    const playbook = await world.playbook([
      step('quarantine', 'quarantine_email'),
      step('isolate', 'isolate_host', { condition: 'steps.quarantine.result.success' }),
      step('told', 'block_sender', {
        parameters: { sender: '{{ steps.quarantine.result.message }}' },
      }),
      step('block', 'block_ip', { approval_level: 'manager' }),
      step('skipped', 'lookup_ip', { condition: 'false' }),
      step('scan', 'scan_host', { on_error: 'continue' }),
      step('wrong', 'block_sender', { parameters: { sender: '{{ incident.raw_data.nothing }}' } }),
      step('late', 'lookup_ip'),
    ]);
    const incident_id = await world.incident();
    const before = world.actions.calls.length;
    const run = await dry(playbook, { incident_id });
    expect(run).toMatchObject({ dry_run: true, playbook, playbook_version: 1, incident_id });
    expect(run).not.toHaveProperty('run_id');
    expect(run).not.toHaveProperty('status');
    expect(run.steps).toMatchObject([
      { decision: 'run', available: true, parameters: { message_id: '<1@mail.example.net>' } },
      {
        decision: 'undecided',
        available: true,
        approval_level: 'senior',
        // The condition alone is unknown.
        parameters: expect.any(Object),
      },
      { decision: 'undecided' },
      { decision: 'run', approval_level: 'manager' },
      { decision: 'skip' },
      { decision: 'run', available: false },
      {
        decision: 'error',
        error: expect.stringMatching(/^steps\.6\.parameters\.sender at character/),
      },
      { decision: 'not_reached' },
    ]);
    expect(run.steps[2]).not.toHaveProperty('parameters');
    expect(run.steps.filter((one) => 'automatic_approval_level' in one)).toEqual([]);
    expect(await world.runsOf(playbook)).toEqual([]);
    await sleep(50);
    expect(world.actions.calls).toHaveLength(before);
    const timeline = `/api/incidents/${incident_id}/timeline`;
    expect((await world.clients.viewer.request('GET', timeline)).body.meta.total).toBe(1);
  });

  it(
    `decides as the real run does, for ${PLAYBOOKS} playbooks of any steps`,
    async () => {
      const compared: Partial<Record<DryDecision, number>> = {};
      for (let seed = 1; seed <= PLAYBOOKS; seed += 1) {
        const chance = chances(seed);
        const severity = chance() < 0.5 ? 'high' : 'low';
        const incident_id = await world.incident({ severity, raw_data: RAW_DATA });
        if (chance() < 0.5) {
          const verdict = { classification: chance() < 0.5 ? 'malicious' : 'benign' };
          const body = { verdict };
          await world.clients.analyst.request('PUT', `/api/incidents/${incident_id}`, { body });
        }
        const steps = generatedSteps(chance);
        const playbook = await world.playbook(steps, { variables: VARIABLES });
        const told = await dry(playbook, { incident_id });
        const real = await toItsEnd(playbook, incident_id);
        for (const [at, one] of told.steps.entries()) {
          // What nobody could know before has ended the run: the rest was not reached.
          if (one.decision !== 'not_reached' && real.steps[at]!.status === 'pending') {
            expect(real.steps.some(failedUndecided(told))).toBe(true);
            break;
          }
          compare(seed, one, real.steps[at]!);
          const decision = one.decision as DryDecision;
          compared[decision] = (compared[decision] ?? 0) + 1;
        }
      }
      // Each decision was among them, or nothing is shown.
      for (const decision of ['run', 'skip', 'undecided', 'error', 'not_reached'] as const) {
        expect(compared[decision]).toBeGreaterThan(0);
      }
    },
    FULL ? 600_000 : 120_000,
  );

  async function toItsEnd(playbook: string, incident_id: string): Promise<ShownRun> {
    const { run_id } = (await world.run(playbook, { incident_id })).body.data as ShownRun;
    return await world.untilEnded(playbook, run_id);
  }

  const failedUndecided =
    ({ steps }: ShownRun) =>
    ({ status }: ShownStep, at: number): boolean =>
      status === 'failed' && steps[at]!.decision === 'undecided';

  function compare(seed: number, told: ShownStep, real: ShownStep): void {
    const about = { seed, step: told.name, decision: told.decision };
    switch (told.decision as DryDecision) {
      case 'run': {
        const { parameters, approval_level } = told;
        expect({ ...about, status: real.status }).toEqual({ ...about, status: 'completed' });
        expect({ ...about, approval_level: real.approval_level }).toEqual({
          ...about,
          approval_level,
        });
        expect(real.parameters).toEqual(parameters);
        return;
      }
      case 'skip':
        return expect({ ...about, status: real.status }).toEqual({ ...about, status: 'skipped' });
      case 'error':
        expect({ ...about, error: real.error }).toEqual({ ...about, error: told.error });
        return expect(real.action_id).toBeUndefined();
      case 'not_reached':
        return expect({ ...about, status: real.status }).toEqual({ ...about, status: 'pending' });
      case 'undecided':
        // No target here is a protected one, so it is what it would need at least.
        if (real.action_id) {
          expect({ ...about, level: real.approval_level }).toEqual({
            ...about,
            level: told.approval_level,
          });
        }
    }
  }
});
