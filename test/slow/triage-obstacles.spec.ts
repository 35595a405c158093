import { Logger } from '@nestjs/common';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { failure, verdict } from '../support/fake-messages-answers.js';
import { eventually } from '../support/jobs/eventually.js';
import { TriageWorld } from '../support/triage/triage-world.js';
import { useStarted } from '../support/use-started.js';

const PROMPT_HASH = expect.stringMatching(/^[0-9a-f]{64}$/) as string;

describe('a provider that an operator has to repair', () => {
  let api: FakeMessagesApi;
  let world: TriageWorld;
  const settings = () => ({
    TRIAGE_PROVIDER: 'anthropic',
    ANTHROPIC_API_KEY: api.key,
    ANTHROPIC_BASE_URL: api.url,
    TRIAGE_TIMEOUT_MS: '60000',
    ANTHROPIC_MODEL: 'the-model',
  });

  beforeAll(async () => {
    api = await FakeMessagesApi.start();
    world = await TriageWorld.start(settings());
  });
  afterEach(async () => {
    // Now the provider gives verdicts, so that all waiting runs continue.
    api.script(verdict());
    world.startWorkOf(world.app);
    await eventually(async () => {
      await world.endPause();
      await world.database.query(
        `update work set due_at = now() where kind = 'triage' and worker is null`,
      );
      return (
        (await world.database.query<object[]>(`select from work where kind = 'triage'`)).length ===
        0
      );
    });
    api.requests.length = 0;
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

  it.each([
    [401, 'authentication_error', 'authentication'],
    [403, 'permission_error', 'authentication'],
    [404, 'not_found_error', 'provider_error'],
  ])(
    'makes runs wait after status %i, and only one run tests the provider for all',
    async (status, type, reason) => {
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
    },
  );

  it('fails a waiting request immediately, and counts the failure', async () => {
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

  it('receives all waiting runs after it has answered one run, as the metrics show', async () => {
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
      'with another provider, although this provider asked for a pause',
      { TRIAGE_PROVIDER: 'rules' },
      429,
      'rules',
    ],
    ['without a provider', { TRIAGE_PROVIDER: 'none' }, 401, 'none'],
  ])('delays no run after a restart %s', async (_, more, status, provider) => {
    api.script(failure(status, 'any_error', { 'retry-after': '3600' }));
    const id = await world.incident();
    await world.wantTriage(id);
    await eventually(
      () => world.runs(id),
      ([run]) => run?.error !== undefined,
    );
    await world.stopWorkOf(world.app);
    api.script(verdict());
    const DATABASE_URL = world.app.database.url;
    await using next = await TriageWorld.start({ ...settings(), DATABASE_URL, ...more });
    expect(await next.until(id, 'completed', 'failed')).toMatchObject({ provider });
    if (status === 404) expect(api.requests.at(-1)!.body.model).toBe('another');
  });
});

describe('triage without a provider', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_PROVIDER: 'none' }));

  it('fails the runs of sources immediately, and the log names their incidents', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const id = await world.incident();
    await world.wantTriage(id);
    const failed = await world.until(id, 'failed');
    expect(failed).toMatchObject({ provider: 'none', error: { reason: 'not_configured' } });
    const lines = warn.mock.calls.map(([, line]) => String(line));
    warn.mockRestore();
    const { incident_number } = await world.read(id);
    expect(lines).toContain(
      `${incident_number} is not triaged: not_configured. A person must judge it.`,
    );
    await world.llm({ status: 'disabled', runs_waiting: 0 });
  });

  it('answers 503 to each request, also while the kill switch is on, and creates no run', async () => {
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
});
