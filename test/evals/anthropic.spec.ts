import { refusal, verdict } from '../support/fake-messages-answers.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { withEnvironment } from '../support/judge.js';
import { loadCases } from './lib/cases.js';
import { evaluate } from './lib/evaluate.js';
import { modelOf } from './lib/models.js';
import { reportOf } from './lib/report.js';

/** The plumbing only: the provider answers by script, so no figure here says anything about a model. */
describe('an evaluation of the provider anthropic', () => {
  const cases = loadCases('dev').slice(0, 3);
  const events = cases.reduce((sum, { injections }) => sum + 1 + injections.length, 0);
  let api: FakeMessagesApi;

  beforeAll(async () => {
    api = await FakeMessagesApi.start();
  });
  beforeEach(() => api.forget());
  afterAll(() => api.stop());

  const evaluated = () =>
    withEnvironment(
      {
        ANTHROPIC_API_KEY: api.key,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_MODEL: 'model-of-the-site',
      },
      () => evaluate(modelOf('anthropic'), cases),
    );

  it('asks once about each event, and reports who answered, the prompts and the tokens', async () => {
    api.script(verdict());
    const report = reportOf('anthropic', 'dev', await evaluated());
    expect(api.refused).toEqual([]);
    expect(api.requests).toHaveLength(events);
    expect(new Set(api.requests.map(({ body }) => body.model))).toEqual(
      new Set(['model-of-the-site']),
    );
    expect(api.requests.filter(({ body }) => body.tools !== undefined)).toEqual([]);
    expect(report).toMatchObject({
      provider: 'anthropic',
      models: ['claude-sonnet-5-5-20261101'],
      cases: cases.length,
      unanswered: 0,
      tokens: { input: 1_110 * events, output: 50 * events },
    });
    expect(report.prompt_hashes).not.toEqual([]);
    for (const hash of report.prompt_hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('counts what the model refuses in no figure, and says which event that was', async () => {
    api.script(refusal('cyber'), verdict());
    const { outcomes, unanswered } = await evaluated();
    expect(outcomes).toHaveLength(cases.length - 1);
    expect(unanswered).toEqual([{ id: cases[0]!.id, reason: expect.stringContaining('refused') }]);
  });

  it('does not begin without a key', async () => {
    await withEnvironment({ ANTHROPIC_API_KEY: '' }, async () =>
      expect(() => modelOf('anthropic')).toThrow(/requires ANTHROPIC_API_KEY/),
    );
  });
});
