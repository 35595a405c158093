import { Logger } from '@nestjs/common';
import { AuditLog } from '../../src/audit/audit-log.js';
import { timelineOfCommand } from '../../src/incidents/timeline/incident-timeline.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { DryDecision } from '../../src/playbooks/runs/runs.dto.js';
import { foldCounts } from '../../src/platform/counting/counted-list.js';
import { Statements } from '../../src/platform/database/statements.js';
import { cancelRunsOverRestore } from '../../src/playbooks/runs/run-records.js';
import { FULL } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';
import {
  chances,
  generatedSteps,
  RAW_DATA as GENERATED_RAW_DATA,
  VARIABLES,
} from '../support/playbooks/generated-playbook.js';
import {
  PlaybookWorld,
  type ShownRun,
  step,
  RAW_DATA,
  statuses,
  type ShownStep,
} from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => PlaybookWorld.start());

describe('GET /api/playbook-runs', () => {
  let incident: string;
  /** Runs of two playbooks, the oldest first. The playbook of the run `failed` is deleted. */
  let completed: ShownRun;
  let waiting: ShownRun;
  let failed: ShownRun;
  let cancelled: ShownRun;

  beforeAll(async () => {
    incident = await world.incident();
    const one = await world.playbook(
      [step('isolate', 'isolate_host', { condition: 'variables.go' })],
      {
        variables: { go: true },
      },
    );
    const other = await world.playbook([
      step('broken', 'lookup_ip', { parameters: { ip: '{{ incident.title }}' } }),
    ]);
    completed = await world.ran(one, { variables: { go: false } });
    waiting = await world.ran(one, { incident_id: incident });
    failed = await world.ran(other, {});
    cancelled = await world.ran(one, { incident_id: incident });
    await world.cancel(one, cancelled.run_id);
    await world.clients.manager.delete(`/api/playbooks/${other}`);
  });

  const asked = async (query: string): Promise<[string[], number]> => {
    const { status, body } = await world.clients.viewer.get(`/api/playbook-runs${query}`);
    expect(status).toBe(200);
    return [body.data.map(({ run_id }: ShownRun) => run_id), body.meta.total];
  };
  const ids = (...runs: ShownRun[]): [string[], number] => [
    runs.map(({ run_id }) => run_id),
    runs.length,
  ];

  it('lists runs of all playbooks, even of deleted playbooks, newest first or oldest first', async () => {
    expect(await asked('')).toEqual(ids(cancelled, failed, waiting, completed));
    expect(await asked('?sort=created_at')).toEqual(ids(completed, waiting, failed, cancelled));
  });

  it('filters by status, playbook and incident', async () => {
    expect(await asked('?status=failed,waiting_approval')).toEqual(ids(failed, waiting));
    expect(await asked(`?playbook_id=${failed.playbook_id}`)).toEqual(ids(failed));
    expect(await asked(`?playbook_id=${completed.playbook_id}&status=completed,failed`)).toEqual(
      ids(completed),
    );
    expect(await asked(`?incident_id=${incident}`)).toEqual(ids(cancelled, waiting));
    expect(await asked(`?incident_id=${incident}&status=cancelled`)).toEqual(ids(cancelled));
  });

  it('filters by start time, including both ends', async () => {
    const { started_at: from } = waiting;
    const { started_at: to } = failed;
    expect(await asked(`?from=${from}&to=${to}`)).toEqual(ids(failed, waiting));
    expect(await asked(`?from=${to}&status=failed`)).toEqual(ids(failed));
    expect(await asked('?to=2020-01-01T00:00:00Z')).toEqual([[], 0]);
    expect(
      (await world.list(completed.playbook_id, `?from=${from}&to=${to}`)).body.meta.total,
    ).toBe(1);
  });

  it('returns the same totals before and after count changes are added to the totals', async () => {
    const all = ['', '?status=cancelled', `?playbook_id=${completed.playbook_id}`];
    const before = await Promise.all(all.map(asked));
    await foldCounts(world.actions.app.nest.get(Statements));
    expect(await world.actions.database.query('select from playbook_run_count_deltas')).toEqual([]);
    expect(await Promise.all(all.map(asked))).toEqual(before);
  });

  it.each(['status=done', 'outcome=done', 'incident_id=x', 'from=yesterday'])(
    'rejects %s with 422',
    async (query) => {
      expect((await world.clients.viewer.get(`/api/playbook-runs?${query}`)).status).toBe(422);
    },
  );

  it('finds a run by the playbook_run_id of an action, even if the playbook is deleted', async () => {
    const get = (id: string) => world.clients.viewer.get(`/api/playbook-runs/${id}`);
    const { playbook_run_id } = (await world.actions.get(waiting.steps[0]!.action_id!)) as {
      playbook_run_id?: string;
    };
    const { body } = await get(playbook_run_id!);
    expect(body.data).toMatchObject({ run_id: waiting.run_id, playbook_id: waiting.playbook_id });
    expect((await get(failed.run_id)).body.data).toMatchObject({
      playbook_id: failed.playbook_id,
      status: 'failed',
      steps_failed: 1,
    });
    expect(await world.get(failed.playbook_id, failed.run_id)).toEqual(
      (await get(failed.run_id)).body.data,
    );
    const nobody = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    expect([(await get(nobody)).status, (await get('x')).status]).toEqual([404, 404]);
  });
});

describe('running a playbook', () => {
  afterEach(() => {
    world.actions.vendor.forget();
    world.actions.vendor.plan = undefined;
  });

  const paths = () => world.actions.calls.map(({ path }) => path);

  it('runs its steps in order and responds with 200 after the last step', async () => {
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
      requested_by: world.actions.names.analyst,
      automatic: false,
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

  it('waits for an approval and continues after it', async () => {
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

  it('fails when an action fails, and takes no further step', async () => {
    world.actions.vendor.plan = ({ path }) => ({
      behaviour: path === '/block_sender' ? 'refuse' : 'apply',
      afterMs: 0,
    });
    const incident_id = await world.incident();
    const playbook = await world.playbook([
      step('block', 'block_sender'),
      step('quarantine', 'quarantine_email'),
    ]);
    const { status, body } = await world.run(playbook, { incident_id });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'failed', steps_completed: 0 });
    expect(body.data.error).toMatch(/^The step block failed: /);
    expect(statuses(body.data as ShownRun)).toEqual(['failed', 'pending']);
    expect(paths()).toEqual(['/block_sender']);
  });

  it('fails without an approval if no connector provides the action', async () => {
    const playbook = await world.playbook([
      step('scan', 'scan_host', { approval_level: 'senior' }),
    ]);
    const run = await world.ran(playbook);
    expect(run).toMatchObject({ status: 'failed' });
    expect(run.steps[0]).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'no_connector' },
    });
  });

  it('fails with the name of the person who rejected the action', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const { run_id, steps } = await world.ran(playbook);
    await world.reject(steps[0]!.action_id!);
    const ended = await world.until(playbook, run_id, 'failed');
    expect(ended.steps[0]!.error).toBe(`Rejected by ${world.actions.names.manager}: No need.`);
  });

  it('uses the playbook version and the incident as they were at its start', async () => {
    const incident_id = await world.incident({ severity: 'high' });
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_sender', { condition: 'incident.severity == "high"' }),
    ]);
    const { run_id, steps } = await world.ran(playbook, { incident_id });
    const put = (path: string, body: object) => world.clients.manager.put(path, body);
    await put(`/api/playbooks/${playbook}`, { steps: [] });
    await put(`/api/incidents/${incident_id}`, { severity: 'low' });
    await world.approve(steps[0]!.action_id!);
    const ended = await world.until(playbook, run_id, 'completed');
    expect(ended.playbook_version).toBe(1);
    expect(statuses(ended)).toEqual(['completed', 'completed']);
  });

  it('continues after its playbook is deleted, and can be read and cancelled by the id of the playbook', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const [one, other] = [await world.ran(playbook), await world.ran(playbook)];
    expect((await world.clients.manager.delete(`/api/playbooks/${playbook}`)).status).toBe(200);
    const { playbook_id } = one;
    expect((await world.list(playbook)).status).toBe(404);
    expect((await world.list(playbook_id)).body.meta.total).toBe(2);
    await world.approve(one.steps[0]!.action_id!);
    await world.until(playbook_id, one.run_id, 'completed');
    expect((await world.cancel(playbook_id, other.run_id)).body.data.status).toBe('cancelled');
    expect((await world.run(playbook)).status).toBe(404);
  });

  describe('rejects', () => {
    it('an unknown playbook, run or incident with 404', async () => {
      const playbook = await world.playbook([]);
      const nobody = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
      const { run_id } = await world.ran(playbook);
      const other = await world.playbook([]);
      const get = (path: string) => world.clients.viewer.get(path);
      const answers = [
        await world.run('no-such-playbook'),
        await world.run('No%20Such%20Playbook'),
        await world.run(nobody),
        await world.run(playbook, { incident_id: nobody }),
        await world.list('no-such-playbook'),
        await world.list(nobody),
        await get(`/api/playbooks/${playbook}/runs/${nobody}`),
        await get(`/api/playbooks/${playbook}/runs/nonsense`),
        await get(`/api/playbooks/${other}/runs/${run_id}`),
        await world.cancel(other, run_id),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    });

    it('a disabled playbook with 409, but not its dry run', async () => {
      const playbook = await world.playbook([], { enabled: false });
      const { status, body } = await world.run(playbook);
      expect([status, body.error.code]).toEqual([409, 'invalid_state']);
      expect(body.error.details).toEqual({ reason: 'playbook_disabled' });
      expect((await world.run(playbook, { dry_run: true })).status).toBe(200);
    });

    it.each([
      [{ incident_id: 'x' }, 'incident_id'],
      [{ variables: [] }, 'variables'],
      [{ variables: { channel: 1 } }, 'variables.channel'],
      [{ dry_run: 'yes' }, 'dry_run'],
    ])('a wrong field with 422 (%#)', async (body, field) => {
      const playbook = await world.playbook([], { variables: { channel: '#soc' } });
      const answer = await world.run(playbook, body);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors[0].field).toBe(field);
    });
  });

  it('is recorded in the timeline, the audit trail and the metrics', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const run = await world.ran(playbook, { incident_id });
    await world.cancel(playbook, run.run_id, world.clients.senior);
    const subject = { type: 'playbook_run', id: run.run_id };
    const entries = await world.timeline(incident_id);
    expect(entries.filter(({ event }) => event.startsWith('playbook_'))).toMatchObject([
      {
        event: 'playbook_started',
        actor: world.actions.names.analyst,
        subject,
        summary: `Started the playbook ${playbook} (version 1).`,
      },
      { event: 'playbook_cancelled', actor: world.actions.names.senior, subject },
    ]);
    const audit = await world.clients.manager.get(`/api/audit?subject=${run.run_id}`);
    expect(audit.body.data.map(({ action }: { action: string }) => action).sort()).toEqual([
      'playbook.run_cancelled',
      'playbook.run_started',
    ]);
    const metrics = (await world.actions.app.get('/metrics')).text;
    expect(metrics).not.toContain(playbook);
    expect(metrics).toMatch(/playbook_runs_total\{automatic="false",outcome="cancelled"\} [1-9]/);
    expect(metrics).toMatch(/playbook_runs\{status="waiting_approval"\} [1-9]/);
  });
});

describe('the row of a playbook run in the table `work`', () => {
  let run: ShownRun;
  let playbook: string;
  const query = (text: string) => world.actions.database.query(text, [run.run_id]);
  const metric = async (name: string): Promise<number | undefined> => {
    const { text } = await world.actions.app.get('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };

  beforeEach(async () => {
    playbook = await world.playbook([step('isolate', 'isolate_host')]);
    run = await world.ran(playbook);
  });

  it('counts as due in metrics and health, with the age of the oldest run, until a replica handles the row', async () => {
    await query(
      `insert into work (kind, ref, lane, urgency, ready, due_at, added_at)
       values ('playbook-run', $1, 'of no replica', 2, true, now(), now() - interval '90 s')`,
    );
    await eventually(async () => (await metric('playbook_runs{status="due"}')) === 1);
    expect(await metric('playbook_runs_oldest_due_seconds')).toBeGreaterThanOrEqual(90);
    const health = await world.clients.admin.get('/health/detailed');
    expect(health.body.components.jobs).toMatchObject({ playbook_runs_due: 1 });
    await query(`delete from work where ref = $1`);
  });

  it('ends the run as failed when the attempts are used up', async () => {
    await query(
      `insert into work (kind, ref, lane, urgency, ready, due_at, attempts)
       values ('playbook-run', $1, 'playbook-run', 2, true, now(), 9)`,
    );
    const ended = await world.until(playbook, run.run_id, 'failed');
    expect(ended.error).toBe('The service could not continue the run; see its log.');
    expect(statuses(ended)).toEqual(['cancelled']);
  });
});

describe('a failed step of an automatic playbook run', () => {
  beforeAll(async () => {
    await world.actions.database.query(
      `insert into notification_channels (id, name, type, audience, enabled, events, min_severity, config, created_by)
       values (gen_random_uuid(), 'told', 'webhook', 'programs', true, '{playbook.step_failed}', 'low', '{}', 'test')`,
    );
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await world.actions.database.query(`update playbooks set deleted_at = now()`);
  });

  const runsWith = async (outcome: string) => {
    const runs = await world.read(`/api/playbook-runs?outcome=${outcome}&per_page=100`);
    return runs.map(({ run_id }: ShownRun) => run_id);
  };
  const total = async (outcome: string): Promise<number> => {
    const { text } = await world.actions.app.get('/metrics');
    const start = `playbook_runs_total{automatic="true",outcome="${outcome}"} `;
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(start))!
        .slice(start.length),
    );
  };
  const triagedAndRan = async (playbook: string): Promise<[string, ShownRun]> => {
    const incident = await world.triaged({ incident_type: 'malware', severity: 'high' });
    const { run_id } = await world.startedRun(playbook);
    return [incident, await world.untilEnded(playbook, run_id)];
  };

  it.each([
    ['stop', 'failed', 'failed', 0],
    ['continue', 'completed', 'partial', 1],
  ] as const)(
    'appears in log, metrics, timeline, events and lists if on_error is %s',
    async (on_error, status, outcome, steps_completed) => {
      const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
      const parameters = { ip: '{{ incident.raw_data.absent }}' };
      const playbook = await world.playbook(
        [step('look', 'lookup_ip', { parameters, on_error }), step('again', 'lookup_ip')],
        { auto_run: true, triggers: { incident_types: ['malware'] } },
      );
      const before = [await total(outcome), await total('succeeded')];
      const [incident, run] = await triagedAndRan(playbook);
      const { run_id } = run;
      expect(run).toMatchObject({ status, outcome, steps_failed: 1, steps_completed });
      const words = 'Steps of an automatic playbook run failed.';
      const warning = [{ playbook_run: run_id, playbook, incident, outcome }, words];
      // Waits, because log and metrics are written after the commit.
      await eventually(
        () => JSON.stringify(warn.mock.calls),
        (calls) => calls.includes(JSON.stringify(warning)),
      );
      expect([await total(outcome), await total('succeeded')]).toEqual([before[0]! + 1, before[1]]);

      const entries = await world.timeline(incident);
      expect(entries.find(({ event }) => event === 'playbook_step_failed')).toMatchObject({
        summary: expect.stringMatching(
          new RegExp(`^Step look of the playbook ${playbook} \\(version 1\\) failed: .*absent`),
        ),
        subject: { type: 'playbook_run', id: run_id },
      });
      expect(
        entries
          .map(({ summary }) => summary)
          .includes(`Completed the playbook ${playbook} (version 1): 1 of 2 steps failed.`),
      ).toBe(outcome === 'partial');
      const told = await eventually(
        () =>
          world.actions.database.query<{ payload: object }[]>(
            `select payload from notification_deliveries where subject_id = $1`,
            [run_id],
          ),
        (deliveries) => deliveries.length > 0,
      );
      expect(told).toMatchObject([
        { payload: { playbook, step: 'look', incident_id: incident, automatic: true } },
      ]);
      expect(await runsWith(outcome)).toContain(run_id);
      expect(await runsWith('partial,failed')).toContain(run_id);
      expect(await runsWith('succeeded,cancelled')).not.toContain(run_id);
    },
  );
});

describe('a dry run', () => {
  const PLAYBOOKS = FULL ? 500 : 25;

  const dry = async (playbook: string, body: object = {}): Promise<ShownRun> => {
    const answer = await world.run(playbook, { ...body, dry_run: true });
    expect(answer.status).toBe(200);
    return answer.body.data as ShownRun;
  };

  it('shows the decision and the approval level of each step, and executes nothing', async () => {
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
        // The parameters are known. Only the condition is unknown.
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
    expect(world.actions.calls).toHaveLength(before);
    expect(await world.timeline(incident_id)).toHaveLength(1);
  });

  it(
    `decides like the real run, for ${PLAYBOOKS} generated playbooks`,
    async () => {
      const compared: Partial<Record<DryDecision, number>> = {};
      for (let seed = 1; seed <= PLAYBOOKS; seed += 1) {
        const chance = chances(seed);
        const severity = chance() < 0.5 ? 'high' : 'low';
        const incident_id = await world.incident({ severity, raw_data: GENERATED_RAW_DATA });
        if (chance() < 0.5) {
          const body = { verdict: { classification: chance() < 0.5 ? 'malicious' : 'benign' } };
          await world.clients.analyst.put(`/api/incidents/${incident_id}`, body);
        }
        const steps = generatedSteps(chance);
        const playbook = await world.playbook(steps, { variables: VARIABLES });
        const told = await dry(playbook, { incident_id });
        const real = await toItsEnd(playbook, incident_id);
        for (const [at, one] of told.steps.entries()) {
          // A step that the dry run cannot decide may end the real run, so later steps may stay pending.
          if (one.decision !== 'not_reached' && real.steps[at]!.status === 'pending') {
            expect(real.steps.some(failedUndecided(told))).toBe(true);
            break;
          }
          compare(seed, one, real.steps[at]!);
          const decision = one.decision as DryDecision;
          compared[decision] = (compared[decision] ?? 0) + 1;
        }
      }
      // The generated playbooks must lead to each decision.
      for (const decision of ['run', 'skip', 'undecided', 'error', 'not_reached'] as const) {
        expect(compared[decision]).toBeGreaterThan(0);
      }
    },
    FULL ? 600_000 : 120_000,
  );

  async function toItsEnd(playbook: string, incident_id: string): Promise<ShownRun> {
    const { run_id } = await world.ran(playbook, { incident_id });
    return await world.untilEnded(playbook, run_id);
  }

  const failedUndecided =
    ({ steps }: ShownRun) =>
    ({ status }: ShownStep, at: number): boolean =>
      status === 'failed' && steps[at]!.decision === 'undecided';

  const STATUS = { run: 'completed', skip: 'skipped', error: 'failed', not_reached: 'pending' };

  function compare(seed: number, told: ShownStep, real: ShownStep): void {
    const decision = told.decision as DryDecision;
    const about = { seed, step: told.name, decision };
    if (decision === 'undecided') {
      // If the step requested an action, the action has the announced level, because no target is protected.
      const { approval_level: level } = real.action_id ? told : real;
      expect({ ...about, level: real.approval_level }).toEqual({ ...about, level });
      return;
    }
    expect({ ...about, status: real.status }).toEqual({ ...about, status: STATUS[decision] });
    if (decision === 'error') {
      expect(real).toMatchObject({ error: told.error });
      expect(real.action_id).toBeUndefined();
    } else if (decision === 'run') {
      const { parameters, approval_level: level } = told;
      expect({ ...about, level: real.approval_level }).toEqual({ ...about, level });
      expect(real.parameters).toEqual(parameters);
    }
  }
});

describe('twenty dry runs with the most expensive steps', () => {
  it('do not block other requests', async () => {
    // Each step fails at the limit of its cost, and the run continues.
    const condition =
      'incident.raw_data.l.all(i, incident.raw_data.l.all(j, i != j || true)) && false';
    const playbook = await world.playbook(
      Array.from({ length: 20 }, (_, n) =>
        step(`s${n}`, 'lookup_ip', { condition, on_error: 'continue' }),
      ),
    );
    const l = Array.from({ length: 900 }, (_, n) => `${n}`.padEnd(200, 'x'));
    const incident_id = await world.incident({ raw_data: { l } });
    const dry = () => world.run(playbook, { incident_id, dry_run: true });
    await dry();
    let open = 20;
    const runs = Array.from({ length: open }, () => dry().finally(() => (open -= 1)));
    let answered = 0;
    for (; open > 0; answered += 1) {
      expect((await world.actions.app.get('/live')).status).toBe(200);
    }
    for (const { status } of await Promise.all(runs)) expect(status).toBe(200);
    // Counts steps instead of time, because a busy machine slows down both the run and the requests.
    expect(answered).toBeGreaterThan(20);
  });
});

describe('open playbook runs after a restore', () => {
  let incident_id: string;

  /** Returns the timeline events of the run. */
  const told = async (run: string): Promise<string[]> => {
    const entries = await world.timeline(incident_id);
    return entries.filter(({ subject }) => subject?.id === run).map(({ event }) => event);
  };

  it('are cancelled with their open steps, and waiting triages start no playbooks', async () => {
    incident_id = await world.incident();
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('revoke', 'revoke_sessions', { parameters: { user: 'mallory' } }),
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
    ]);
    const waitingAt = async (position: number): Promise<string> => {
      const { run_id } = await world.ran(playbook, { incident_id });
      const reached = (at: number) =>
        world.until(playbook, run_id, ({ steps, status }) => {
          return at === 2 ? status === 'completed' : steps[at]!.status === 'waiting_approval';
        });
      for (let at = 0; at < position; at += 1) {
        await world.approve((await reached(at)).steps[at]!.action_id!);
      }
      await reached(position);
      return run_id;
    };
    const waiting = await waitingAt(0);
    const further = await waitingAt(1);
    const over = await waitingAt(2);

    const cancelled = await world.actions.app.nest.get(Transactions).run(async (tx) => {
      await tx.query(
        `insert into work (kind, ref, lane, urgency, ready, due_at)
         values ('event.playbook-auto-runs', $1, 'x', 2, true, now())`,
        [further],
      );
      // Resets the runs to the time of the backup, when they waited for their first approval.
      const open = `status = 'waiting_approval', completed_at = null`;
      for (const statement of [
        `delete from playbook_run_steps where position > 0 and run_id = any($1)`,
        `update playbook_runs set ${open}, steps_completed = 0 where id = any($1)`,
        `update playbook_run_steps set ${open} where run_id = any($1)`,
      ]) {
        await tx.query(statement, [[further, over]]);
      }
      const audit = world.actions.app.nest.get(AuditLog);
      const timeline = timelineOfCommand(tx.dataSource);
      const runs = await cancelRunsOverRestore(tx, timeline, audit);
      expect(await tx.query(`select from work where kind = 'event.playbook-auto-runs'`)).toEqual(
        [],
      );
      return runs;
    });

    const ids = cancelled.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([waiting, further, over]));
    expect(await world.get(playbook, waiting)).toMatchObject({ status: 'cancelled' });
    const run = await world.get(playbook, further);
    expect(run).toMatchObject({ status: 'cancelled' });
    expect(run.error).toMatch(/^The database was restored from a backup/);
    expect(statuses(run)).toEqual(['cancelled', 'pending', 'pending']);
    expect(run.steps[0]!.result).toMatchObject({ success: true });
    expect(run).toMatchObject({ steps_completed: 0, steps_failed: 0 });
    expect(await told(further)).toEqual(['playbook_started', 'playbook_cancelled']);
    const audit = await world.clients.manager.get(`/api/audit?subject=${further}`);
    expect(audit.body.data[0]).toMatchObject({
      action: 'playbook.run_cancelled',
      actor: 'system',
      details: { error: run.error, steps_completed: 0, steps_total: 3 },
    });
  });
});
