import { PlaybookRunsRepository } from '../../src/playbooks/runs/records/playbook-runs.repository.js';
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
  afterEach(() => {
    world.actions.vendor.forget();
    world.actions.vendor.plan = undefined;
  });
  afterAll(() => world?.close());

  const paths = () => world.actions.calls.map(({ path }) => path);
  const ran = async (playbook: string, body: object = {}): Promise<ShownRun> =>
    (await world.run(playbook, body)).body.data as ShownRun;

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

  it('shows on each action which run asked for it, and for whom', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook([step('block', 'block_sender')]);
    const run = await ran(playbook, { incident_id });
    const action = await world.actions.get(run.steps[0]!.action_id!);
    expect(action).toMatchObject({
      requested_by: `playbook:${playbook}`,
      playbook_run_id: run.run_id,
      on_behalf_of: world.actions.names.analyst,
      executed_by: 'system',
    });
  });

  it('skips a step whose condition is false, and later steps find no result of it', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook([
      step('skipped', 'isolate_host', { condition: 'incident.severity == "critical"' }),
      step('block', 'block_sender', { condition: '!has(steps.skipped.result)' }),
    ]);
    const run = await ran(playbook, { incident_id });
    expect(run).toMatchObject({ status: 'completed', steps_completed: 2 });
    expect(statuses(run)).toEqual(['skipped', 'completed']);
    expect(paths()).toEqual(['/block_sender']);
  });

  it('gives the results of steps to later ones', async () => {
    const playbook = await world.playbook([
      step('look', 'lookup_ip'),
      step('block', 'block_sender', {
        condition: 'steps.look.result.success',
        parameters: { sender: 'a@example.net', reason: 'Said: {{ steps.look.result.message }}' },
      }),
    ]);
    const run = await ran(playbook);
    expect(run.status).toBe('completed');
    const { message } = run.steps[0]!.result!;
    expect(run.steps[1]!.parameters).toEqual({
      sender: 'a@example.net',
      reason: `Said: ${message}`,
    });
  });

  it('ends failed when an action fails, and takes no further step', async () => {
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

  it('goes on after a failure where the step says so', async () => {
    world.actions.vendor.plan = ({ path }) => ({
      behaviour: path === '/block_sender' ? 'refuse' : 'apply',
      afterMs: 0,
    });
    const incident_id = await world.incident();
    const playbook = await world.playbook([
      step('block', 'block_sender', { on_error: 'continue' }),
      step('quarantine', 'quarantine_email', { condition: '!steps.block.result.success' }),
    ]);
    const run = await ran(playbook, { incident_id });
    expect(run).toMatchObject({ status: 'completed', steps_completed: 1 });
    expect(statuses(run)).toEqual(['failed', 'completed']);
  });

  it('never runs a step that has no value, and says where it went wrong', async () => {
    const playbook = await world.playbook([
      step('block', 'block_sender', {
        parameters: { sender: '{{ incident.raw_data.no_such_key }}' },
      }),
    ]);
    const run = await ran(playbook, { incident_id: await world.incident() });
    expect(run.status).toBe('failed');
    expect(run.steps[0]).toMatchObject({ status: 'failed' });
    expect(run.steps[0]!.error).toMatch(/^steps\.0\.parameters\.sender at character \d+: /);
    expect(run.steps[0]!.action_id).toBeUndefined();
    expect(paths()).toEqual([]);
  });

  it('fails the step that reads an incident when the run is about none', async () => {
    const playbook = await world.playbook([step('block', 'block_sender')]);
    const run = await ran(playbook);
    expect(run).toMatchObject({ status: 'failed' });
    expect(paths()).toEqual([]);
  });

  it('fails at once where no connector provides the action, before anybody is asked', async () => {
    const playbook = await world.playbook([
      step('scan', 'scan_host', { approval_level: 'senior' }),
    ]);
    const run = await ran(playbook);
    expect(run).toMatchObject({ status: 'failed' });
    expect(run.steps[0]).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'no_connector' },
    });
  });

  it('ends a run of no steps at once', async () => {
    const playbook = await world.playbook([]);
    const { status, body } = await world.run(playbook);
    expect([status, body.data.status, body.data.steps]).toEqual([200, 'completed', []]);
  });

  it('says who rejected an action, and ends there', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const { run_id, steps } = await ran(playbook);
    await world.reject(steps[0]!.action_id!);
    const ended = await world.until(playbook, run_id, 'failed');
    expect(ended.steps[0]!.error).toBe(`Rejected by ${world.actions.names.manager}: No need.`);
  });

  it('asks for the level that a step wants, and never for a lower one', async () => {
    const playbook = await world.playbook([
      step('block', 'block_sender', {
        parameters: { sender: 'a@example.net' },
        approval_level: 'manager',
      }),
    ]);
    const lower = await world.playbook([
      step('isolate', 'isolate_host', { approval_level: 'analyst' }),
    ]);
    expect((await ran(playbook)).steps[0]).toMatchObject({
      status: 'waiting_approval',
      approval_level: 'manager',
    });
    expect((await ran(lower)).steps[0]).toMatchObject({ approval_level: 'senior' });
  });

  it('goes by the version and the incident with which it began', async () => {
    const incident_id = await world.incident({ severity: 'high' });
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_sender', { condition: 'incident.severity == "high"' }),
    ]);
    const { run_id, steps } = await ran(playbook, { incident_id });
    const put = (path: string, body: object) =>
      world.clients.manager.request('PUT', path, { body });
    await put(`/api/playbooks/${playbook}`, { steps: [] });
    await put(`/api/incidents/${incident_id}`, { severity: 'low' });
    await world.approve(steps[0]!.action_id!);
    const ended = await world.until(playbook, run_id, 'completed');
    expect(ended.playbook_version).toBe(1);
    expect(statuses(ended)).toEqual(['completed', 'completed']);
  });

  it('goes on, and can be read and cancelled by its id, when its playbook is deleted', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const [one, other] = [await ran(playbook), await ran(playbook)];
    const path = `/api/playbooks/${playbook}`;
    expect((await world.clients.manager.request('DELETE', path)).status).toBe(200);
    const { playbook_id } = one;
    expect((await world.list(playbook)).status).toBe(404);
    expect((await world.list(playbook_id)).body.meta.total).toBe(2);
    await world.approve(one.steps[0]!.action_id!);
    await world.until(playbook_id, one.run_id, 'completed');
    const cancelled = await world.cancel(playbook_id, other.run_id);
    expect(cancelled.body.data.status).toBe('cancelled');
    expect((await world.run(playbook)).status).toBe(404);
  });

  it('answers 202 with the run that it has begun when the run cannot be read any more', async () => {
    const playbook = await world.playbook([step('quarantine', 'quarantine_email')]);
    const incident_id = await world.incident();
    const runs = world.actions.app.nest.get(PlaybookRunsRepository);
    const away = jest.spyOn(runs, 'find').mockRejectedValue(new Error('No connection.'));
    const { status, body } = await world.run(playbook, { incident_id });
    away.mockRestore();
    expect([status, body.data.status]).toEqual([202, 'running']);
    await world.until(playbook, body.data.run_id as string, 'completed');
  });

  it('takes the id of a playbook, or its name', async () => {
    const playbook = await world.playbook([]);
    const { playbook_id } = await ran(playbook);
    expect((await world.run(playbook_id)).status).toBe(200);
    expect((await world.list(playbook)).body.meta.total).toBe(2);
  });

  describe('refuses', () => {
    it('what is not there, with 404', async () => {
      const playbook = await world.playbook([]);
      const nobody = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
      const { run_id } = await ran(playbook);
      const other = await world.playbook([]);
      const get = (path: string) => world.clients.viewer.request('GET', path);
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

    it('a disabled playbook, with 409, but not its dry run', async () => {
      const playbook = await world.playbook([], { enabled: false });
      const { status, body } = await world.run(playbook);
      expect([status, body.error.code]).toEqual([409, 'invalid_state']);
      expect(body.error.details).toEqual({ reason: 'playbook_disabled' });
      expect((await world.run(playbook, { dry_run: true })).status).toBe(200);
    });

    it('a viewer, with 403', async () => {
      const playbook = await world.playbook([]);
      const { run_id } = await ran(playbook);
      const answers = [
        await world.run(playbook, {}, { client: world.clients.viewer }),
        await world.cancel(playbook, run_id, world.clients.viewer),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    });

    it.each([
      [{ incident_id: 'x' }, 'incident_id'],
      [{ incident_id: null }, 'incident_id'],
      [{ variables: [] }, 'variables'],
      [{ variables: null }, 'variables'],
      [{ variables: { channel: 1 } }, 'variables.channel'],
      [{ variables: { other: 'x' } }, 'variables.other'],
      [{ variables: { channel: 'x'.repeat(40_000) } }, 'variables'],
      [{ dry_run: 'yes' }, 'dry_run'],
      [{ force: true }, 'force'],
    ])('a wrong field with 422 (%#)', async (body, field) => {
      const playbook = await world.playbook([], { variables: { channel: '#soc' } });
      const answer = await world.run(playbook, body);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details.errors[0].field).toBe(field);
    });

    it('variables that JSON has and PostgreSQL has not, and takes prototype names as unknown', async () => {
      const playbook = await world.playbook([], { variables: { channel: '#soc' } });
      const raw = (text: string) =>
        world.clients.analyst.request('POST', `/api/playbooks/${playbook}/run`, {
          body: `{"variables": ${text}}`,
          headers: { 'content-type': 'application/json' },
        });
      const texts = ['{"channel": "\\u0000"}', '{"channel": "\\ud800"}', '{"__proto__": "x"}'];
      for (const text of texts) expect((await raw(text)).status).toBe(422);
    });
  });

  it('takes other values for its variables', async () => {
    const playbook = await world.playbook(
      [step('block', 'block_sender', { parameters: { sender: '{{ variables.who }}' } })],
      { variables: { who: 'a@example.net', other: 3 } },
    );
    const run = await ran(playbook, { variables: { who: 'b@example.net' } });
    expect(run.steps[0]!.parameters).toEqual({ sender: 'b@example.net' });
    expect(run).toMatchObject({ variables: { who: 'b@example.net', other: 3 } });
  });

  it('lists runs newest first, by status and incident, with their exact number', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook(
      [step('isolate', 'isolate_host', { condition: 'variables.wait' })],
      { variables: { wait: false } },
    );
    const first = await ran(playbook, { incident_id });
    const second = await ran(playbook, { variables: { wait: true } });
    const third = await ran(playbook);
    const ids = async (query: string) =>
      (await world.list(playbook, query)).body.data.map((run: ShownRun) => run.run_id);
    expect(await ids('')).toEqual([third.run_id, second.run_id, first.run_id]);
    expect(await ids('?sort=created_at&per_page=1&page=2')).toEqual([second.run_id]);
    expect(await ids('?status=waiting_approval')).toEqual([second.run_id]);
    expect(await ids('?status=completed,failed')).toEqual([third.run_id, first.run_id]);
    expect(await ids(`?incident_id=${incident_id}`)).toEqual([first.run_id]);
    expect(await ids('?page=9')).toEqual([]);
    const { meta, data } = (await world.list(playbook, '?per_page=2')).body;
    expect(meta).toEqual({ page: 1, per_page: 2, total: 3 });
    expect(data[0].steps).toBeUndefined();
    for (const bad of ['?status=odd', '?sort=name', '?incident_id=x', '?per_page=0', '?more=1']) {
      expect((await world.list(playbook, bad)).status).toBe(422);
    }
  });

  it('tells the timeline, the audit trail and the metrics of it', async () => {
    const incident_id = await world.incident();
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const run = await ran(playbook, { incident_id });
    await world.cancel(playbook, run.run_id, world.clients.senior);
    const timeline = await world.clients.viewer.request(
      'GET',
      `/api/incidents/${incident_id}/timeline`,
    );
    const subject = { type: 'playbook_run', id: run.run_id };
    const told = timeline.body.data.filter(({ event }: { event: string }) =>
      event.startsWith('playbook_'),
    );
    expect(told).toMatchObject([
      {
        event: 'playbook_started',
        actor: world.actions.names.analyst,
        subject,
        summary: `Started the playbook ${playbook} (version 1).`,
      },
      { event: 'playbook_cancelled', actor: world.actions.names.senior, subject },
    ]);
    const audit = await world.clients.manager.request('GET', `/api/audit?subject=${run.run_id}`);
    expect(audit.body.data.map(({ action }: { action: string }) => action).sort()).toEqual([
      'playbook.run_cancelled',
      'playbook.run_started',
    ]);
    const metrics = (await world.actions.app.request('GET', '/metrics')).text;
    expect(metrics).not.toContain(playbook);
    expect(metrics).toMatch(/playbook_runs_total\{automatic="false",outcome="cancelled"\} [1-9]/);
    expect(metrics).toMatch(/playbook_runs\{status="waiting_approval"\} [1-9]/);
  });
});
