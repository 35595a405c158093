import { Logger } from '@nestjs/common';
import { eventually } from '../support/jobs/eventually.js';
import type { UnavailableReason } from '../../src/triage/model/triage-model.port.js';
import {
  heldModel,
  judgement,
  script,
  TriageWorld,
  unavailable,
} from '../support/triage/triage-world.js';
import { useStarted } from '../support/use-started.js';

describe('triage without a verdict', () => {
  const world = useStarted(() =>
    TriageWorld.start({ TRIAGE_TIMEOUT_MS: '60000', AI_TOKENS_PER_HOUR: '1000' }),
  );
  afterEach(async () => {
    await world.database.query('update triage_runs set tokens_at = null');
  });

  const untouched = async (id: string) => {
    const incident = await world.read(id);
    expect(incident).toMatchObject({ status: 'open', recommended_actions: [] });
    expect(incident).not.toHaveProperty('verdict');
  };

  it.each<UnavailableReason>(['unreachable', 'refused'])(
    'answers 503 with the reason %s, fails the run and does not change the incident',
    async (reason) => {
      script(world.app, (_, { meter }) => {
        meter.add({ input: 5, output: 1 });
        return Promise.reject(unavailable(reason, 'time'));
      });
      const id = await world.incident();
      const answer = await world.triage(id);
      expect(answer.status).toBe(503);
      expect(answer.body.error).toMatchObject({ code: 'ai_unavailable', details: { reason } });
      await untouched(id);
      const [run] = await world.runs(id);
      expect(run).toMatchObject({ status: 'failed', error: { reason }, tokens: { input: 5 } });
      const entries = await world.timeline(id);
      expect(entries.map(({ event }) => event)).toEqual(['created', 'triage_failed']);
    },
  );

  it('returns the Retry-After of the provider', async () => {
    script(world.app, () => Promise.reject(unavailable('rate_limited', 'nothing', 12_300)));
    expect((await world.triage(await world.incident())).headers['retry-after']).toBe('13');
  });

  it('answers 500 to an internal error, without its message, and fails the run', async () => {
    script(world.app, () => Promise.reject(new TypeError('secret detail')));
    const id = await world.incident();
    const answer = await world.triage(id);
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret detail');
    const [run] = await world.runs(id);
    expect(run.error.reason).toBe('internal_error');
    await untouched(id);
  });

  it('can be requested again immediately, and lets people triage in the meantime', async () => {
    script(world.app, () => Promise.reject(unavailable('overloaded')));
    const [id, other] = [await world.incident(), await world.incident()];
    for (const one of [id, other]) await world.triage(one);
    await world.update(other, { verdict: { classification: 'benign' } });
    expect(await world.read(other)).toMatchObject({ status: 'triaged' });
    script(world.app, async () => judgement());
    expect((await world.triage(id)).status).toBe(200);
    expect(await world.runs(id)).toHaveLength(2);
  });

  it('shows provider, model and last failure in the health, and logs an outage once', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    script(world.app, () => Promise.reject(unavailable('overloaded')));
    for (let request = 0; request < 3; request += 1) await world.triage(await world.incident());
    const lines = warn.mock.calls.filter(([, line]) => String(line).includes('gives no verdicts'));
    warn.mockRestore();
    expect(lines).toEqual([[{ reason: 'overloaded' }, expect.any(String)]]);
    const degraded = await world.llm({
      status: 'degraded',
      provider: 'anthropic',
      model: 'claude-sonnet-5-5',
    });
    expect(degraded).toMatchObject({
      message: expect.stringContaining('The provider says overloaded.'),
      last_failure: { reason: 'overloaded', at: expect.any(String) },
    });
    script(world.app, async () => judgement());
    await world.triage(await world.incident());
    const healthy = await world.llm({ status: 'healthy' });
    expect(healthy).toMatchObject({ last_failure: { reason: 'overloaded' } });
  });

  it('stays healthy after a response that violates the schema, because the provider works', async () => {
    script(world.app, async () => judgement());
    await world.triage(await world.incident());
    script(world.app, () => Promise.reject(unavailable('invalid_answer')));
    await world.triage(await world.incident());
    const seen = await eventually(
      () => world.llm({}),
      (llm) => JSON.stringify(llm).includes('invalid_answer'),
    );
    expect(seen).toMatchObject({ status: 'healthy' });
  });

  const counted = async (line: RegExp) => {
    const { text } = await world.clients.viewer.get('/metrics');
    return Number(line.exec(text)?.[1] ?? 0);
  };
  const outputTokens = () => counted(/llm_tokens_total\{direction="output"\} (\d+)/);

  it('counts tokens once and fails the run if the incident is deleted before the verdict is written', async () => {
    const before = await outputTokens();
    const held = heldModel();
    script(world.app, held.judge);
    const id = await world.incident();
    const answer = world.triage(id);
    await held.begun;
    await world.clients.admin.delete(`/api/incidents/${id}`);
    held.answer.resolve(judgement({ tokens: { input: 100, output: 20 } }));
    expect((await answer).status).toBe(404);
    expect((await outputTokens()) - before).toBe(20);
    const [run] = await world.database.query('select * from triage_runs where incident_id = $1', [
      id,
    ]);
    expect(run).toMatchObject({ status: 'failed', error: { reason: 'incident_deleted' } });
  });

  it('counts runs and tokens in the metrics', async () => {
    const completed = () => counted(/triage_duration_seconds_count\{status="completed"\} (\d+)/);
    const before = [await completed(), await outputTokens()] as const;
    script(world.app, async () => judgement());
    await world.triage(await world.incident());
    expect(await completed()).toBeGreaterThan(before[0]);
    expect(await outputTokens()).toBeGreaterThanOrEqual(before[1] + 20);
  });

  describe('while the token limit of the hour is reached', () => {
    it('answers 503 with Retry-After until tokens are available again', async () => {
      script(world.app, async () => judgement({ tokens: { input: 900, output: 100 } }));
      await world.triage(await world.incident());
      const id = await world.incident();
      const refused = await world.triage(id);
      expect(refused.status).toBe(503);
      expect(refused.body.error.details).toEqual({ reason: 'token_budget' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(3_600);
      expect(await world.runs(id)).toEqual([]);
      await world.database.query(
        `update triage_runs set tokens_at = tokens_at - interval '1 hour' where tokens_at is not null`,
      );
      expect((await world.triage(id)).status).toBe(200);
    });

    it('keeps a background run waiting', async () => {
      script(world.app, async () => judgement({ tokens: { input: 1_000, output: 0 } }));
      await world.triage(await world.incident());
      const id = await world.incident();
      expect((await world.later(id)).status).toBe(202);
      const [run] = await eventually(
        () => world.runs(id),
        ([newest]) => newest?.error?.reason === 'token_budget',
      );
      expect(run).toMatchObject({ status: 'queued', failures: 0 });
      const minutes = (Date.parse(run.next_attempt_at) - Date.now()) / 60_000;
      expect(minutes).toBeGreaterThan(55);
      expect(minutes).toBeLessThanOrEqual(60);
      await world.database.query('update triage_runs set tokens_at = null');
      await world.endPause();
      await world.until(id, 'completed');
    });

    it('reports the token limit in the health', async () => {
      script(world.app, async () => judgement({ tokens: { input: 1_000, output: 0 } }));
      await world.triage(await world.incident());
      const degraded = await world.llm({ status: 'degraded' });
      expect(degraded).toMatchObject({ message: expect.stringContaining('AI_TOKENS_PER_HOUR') });
      await world.database.query('update triage_runs set tokens_at = null');
      await world.llm({ status: 'healthy' });
    });
  });
});

describe('a model that exceeds the timeout', () => {
  const world = useStarted(() => TriageWorld.start({ TRIAGE_TIMEOUT_MS: '500' }));

  it('is aborted with 503; its tokens are counted and its late answer is dropped', async () => {
    const held = heldModel();
    const asked = script(world.app, async (given, judging) => {
      judging.meter.add({ input: 1_000, output: 500 });
      judging.meter.add({ input: 1_000, output: 500 });
      return await held.judge(given, judging);
    });
    const id = await world.incident();
    const answer = await world.triage(id);
    expect(answer.status).toBe(503);
    expect(answer.body.error.details).toEqual({ reason: 'timeout' });
    expect(asked.mock.calls[0]![1].signal.aborted).toBe(true);
    held.answer.resolve(judgement());
    expect(await world.read(id)).not.toHaveProperty('verdict');
    expect((await world.runs(id))[0]).toMatchObject({
      status: 'failed',
      error: { reason: 'timeout' },
      tokens: { input: 2_000, output: 1_000 },
    });
  });
});
