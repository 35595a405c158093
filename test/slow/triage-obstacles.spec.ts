import { Logger } from '@nestjs/common';
import { RunObstacles } from '../../src/triage/runs/run-obstacles.js';
import { RunQueue } from '../../src/triage/runs/run-queue.js';
import { RunClaimsRepository } from '../../src/triage/records/run-claims.repository.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { failure, verdict } from '../support/fake-messages-answers.js';
import { eventually } from '../support/jobs/eventually.js';
import { TriageWorld } from '../support/triage/triage-world.js';
import { registerSource } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const PROMPT_HASH = expect.stringMatching(/^[0-9a-f]{64}$/) as string;

/** The lines of a level, as the log gets them. */
function linesOf(level: 'debug' | 'warn'): string[] {
  const lines: string[] = [];
  jest.spyOn(Logger.prototype, level).mockImplementation((...line: unknown[]) => {
    lines.push(line.map((part) => JSON.stringify(part)).join(' '));
  });
  return lines;
}

describe('a provider that an operator has to mend', () => {
  let api: FakeMessagesApi;
  let world: TriageWorld;
  let starting: string[];
  let warnings: string[];
  const settings = () => ({
    TRIAGE_PROVIDER: 'anthropic',
    ANTHROPIC_API_KEY: api.key,
    ANTHROPIC_BASE_URL: api.url,
    TRIAGE_TIMEOUT_MS: '60000',
    ANTHROPIC_MODEL: 'the-model',
  });

  beforeAll(async () => {
    starting = linesOf('debug');
    api = await FakeMessagesApi.start();
    world = await TriageWorld.start(settings());
    jest.restoreAllMocks();
  });
  beforeEach(() => {
    warnings = linesOf('warn');
  });
  afterEach(async () => {
    // The provider answers again, and all runs that wait go on.
    api.script(verdict());
    const { nest } = world.app;
    nest.get(RunQueue).onApplicationBootstrap();
    nest.get(RunObstacles).answered();
    const open = `update triage_runs set lease_until = now() where completed_at is null returning id`;
    await eventually(
      async () => (await world.database.query<[object[], number]>(open))[1],
      (runs) => runs === 0,
    );
    api.requests.length = 0;
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await world?.close();
    await api?.stop();
  });

  const waitingFor = async (id: string, reason: string) =>
    (
      await eventually(
        () => world.runs(id),
        ([run]) => run?.status === 'queued' && run.error?.reason === reason,
      )
    )[0];

  it('is named in the log at the start, with its model and without the key', () => {
    const lines = starting.filter((line) => line.includes('triages'));
    expect(lines).toEqual([expect.stringContaining('"model":"the-model"')]);
    expect(starting.join('\n')).not.toContain(api.key);
  });

  it.each([
    [401, 'authentication_error', 'authentication'],
    [403, 'permission_error', 'authentication'],
    [404, 'not_found_error', 'provider_error'],
  ])('lets runs wait after a %i, and one of them asks for all', async (status, type, reason) => {
    api.script(failure(status, type));
    const ids = [await world.incident(), await world.incident(), await world.incident()];
    await world.wantTriage(ids[0]!);
    const first = await waitingFor(ids[0]!, reason);
    expect(first).toMatchObject({ failures: 1, next_attempt_at: expect.any(String) });
    for (const id of ids.slice(1)) await world.wantTriage(id);
    for (const id of ids.slice(1)) {
      expect(await waitingFor(id, reason)).toMatchObject({
        failures: 0,
        error: { message: expect.stringContaining(`status ${status}`) },
        next_attempt_at: expect.any(String),
      });
    }
    expect(api.requests).toHaveLength(1);
    const minutes = (Date.parse(first.next_attempt_at) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(3);
    expect(minutes).toBeLessThan(7);
    await world.llm({ status: 'degraded', runs_waiting: 3 });
  });

  it('tells who waits for an answer at once, and counts it as a failure', async () => {
    api.script(failure(401, 'authentication_error'));
    const id = await world.incident();
    const answer = await world.triage(id);
    expect(answer.status).toBe(503);
    expect(answer.body.error.details).toEqual({ reason: 'authentication' });
    expect((await world.runs(id))[0]).toMatchObject({
      status: 'failed',
      failures: 1,
      provider: 'anthropic',
      model: expect.any(String),
      prompt_hash: PROMPT_HASH,
    });
  });

  it('is asked again as soon as it has answered anybody, and all that wait go on, as the metrics show', async () => {
    api.script(failure(401, 'authentication_error'));
    const ids = [await world.incident(), await world.incident()];
    for (const id of ids) await world.wantTriage(id);
    for (const id of ids) await waitingFor(id, 'authentication');
    const metrics = await eventually(
      async () => (await world.clients.viewer.get('/metrics')).text,
      (all) => all.includes('triage_runs{status="queued"} 2'),
    );
    expect(metrics).toContain('triage_runs{status="running"} 0');
    api.script(verdict());
    expect((await world.triage(await world.incident())).status).toBe(200);
    for (const id of ids) await world.until(id, 'completed');
    await world.llm({ status: 'healthy', runs_waiting: 0 });
  });

  it.each([
    ['with another model', { ANTHROPIC_MODEL: 'another' }, 404, 'anthropic'],
    [
      'with another provider, whatever pause this one wants',
      { TRIAGE_PROVIDER: 'rules' },
      429,
      'rules',
    ],
    ['without a provider', { TRIAGE_PROVIDER: 'none' }, 401, 'none'],
  ])('keeps no run back after a restart %s', async (_, more, status, provider) => {
    api.script(failure(status, 'any_error', { 'retry-after': '3600' }));
    const id = await world.incident();
    await world.wantTriage(id);
    await eventually(
      () => world.runs(id),
      ([run]) => run?.error !== undefined,
    );
    await world.stopQueueOf(world.app);
    api.script(verdict());
    const DATABASE_URL = world.app.database.url;
    await using next = await TriageWorld.start({ ...settings(), DATABASE_URL, ...more });
    const [run] = await eventually(
      () => next.runs(id),
      ([newest]) =>
        newest.provider === provider &&
        newest.status !== 'running' &&
        newest.error?.reason !== 'provider_error',
    );
    if (provider === 'none') {
      expect(run).toMatchObject({ status: 'queued', error: { reason: 'not_configured' } });
      expect(run).not.toHaveProperty('next_attempt_at');
    } else expect(run.status).toBe('completed');
    if (status === 404) expect(api.requests.at(-1)!.body.model).toBe('another');
  });

  it('is waited for no longer than a day, and the log names the incident', async () => {
    api.script(failure(401, 'authentication_error'));
    const ids = [await world.incident(), await world.incident()];
    await world.wantTriage(ids[0]!);
    await waitingFor(ids[0]!, 'authentication');
    await world.wantTriage(ids[1]!);
    await waitingFor(ids[1]!, 'authentication');
    const { incident_number: number } = await world.read(ids[1]!);
    await world.database.query(
      `update triage_runs set created_at = created_at - interval '1 day', lease_until = now() where incident_id = $1`,
      [ids[1]],
    );
    // It was asked for nothing: the fault of the other run is known.
    const failed = await world.until(ids[1]!, 'failed');
    expect(failed).toMatchObject({ failures: 0, error: { reason: 'authentication' } });
    expect(api.requests).toHaveLength(1);
    const lines = warnings.filter((line) => line.includes(String(number)));
    expect(lines).toEqual([expect.stringContaining('is not triaged: authentication')]);
  });
});

describe('without a provider', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_PROVIDER: 'none' }));

  afterEach(() => jest.restoreAllMocks());

  const waiting = async (id: string) =>
    (
      await eventually(
        () => world.runs(id),
        ([run]) => run?.error?.reason === 'not_configured',
      )
    )[0];

  it('gives runs up that have waited for a day, and counts them', async () => {
    const failures = async () => {
      const { text } = await world.clients.viewer.get('/metrics');
      return /^triage_duration_seconds_count\{status="failed"\} (\d+)$/m.exec(text)?.[1];
    };
    // A first burst is seen only where the series was there before.
    expect(await failures()).toBe('0');
    const id = await world.incident();
    await world.wantTriage(id);
    await waiting(id);
    await world.database.query(
      `update triage_runs set created_at = created_at - interval '1 day', lease_until = lease_until - interval '1 day'`,
    );
    expect(await world.until(id, 'failed')).toMatchObject({ error: { reason: 'not_configured' } });
    await eventually(failures, (count) => count === '1');
  });

  it('answers 503 to each request, also while the kill switch is on, and queues nothing', async () => {
    const id = await world.incident();
    const answer = await world.later(id);
    expect(answer.status).toBe(503);
    expect(answer.body.error.details).toEqual({ reason: 'not_configured' });
    await world.turnOn();
    expect((await world.triage(id)).body.error.details).toEqual({ reason: 'not_configured' });
    await world.turnOff();
    expect(await world.runs(id)).toEqual([]);
    expect(await world.timeline(id)).toHaveLength(1);
  });

  it('lets the runs of sources wait until a replica has a provider', async () => {
    const ids = [await world.incident(), await world.incident()];
    for (const id of ids) await world.wantTriage(id);
    for (const id of ids) {
      const run = await waiting(id);
      expect(run).toMatchObject({ status: 'queued', failures: 0 });
      expect(run).not.toHaveProperty('next_attempt_at');
    }
    const { body } = await world.clients.viewer.get('/health/detailed');
    expect(body.components.llm).toMatchObject({ status: 'disabled', runs_waiting: 2 });
    await using equipped = await TriageWorld.start({
      TRIAGE_PROVIDER: 'rules',
      DATABASE_URL: world.app.database.url,
    });
    for (const id of ids) {
      expect(await world.until(id, 'completed')).toMatchObject({ provider: 'rules' });
    }
    // That replica has it done also when the other one has seen the run first.
    const due = jest.spyOn(equipped.app.nest.get(RunClaimsRepository), 'due');
    due.mockResolvedValue([]);
    const id = await world.incident();
    await world.wantTriage(id);
    expect(await waiting(id)).toMatchObject({ status: 'queued', provider: 'none' });
    due.mockRestore();
    expect(await world.until(id, 'completed')).toMatchObject({ provider: 'rules' });
  });

  it('says at the start which sources want what nobody does', async () => {
    const warnings = linesOf('warn');
    await registerSource(world.clients.admin, { source: 'edr', auto_triage: true });
    await registerSource(world.clients.admin, { source: 'siem' });
    const news = linesOf('debug');
    const next = await TriageWorld.start({
      TRIAGE_PROVIDER: 'none',
      DATABASE_URL: world.app.database.url,
    });
    await next.close();
    expect(warnings.filter((line) => line.includes('auto_triage'))).toEqual([
      expect.stringContaining('Nobody triages what edr want'),
    ]);
    expect(news.filter((line) => line.includes('Only people triage'))).toHaveLength(1);
  });
});
