import { FakeMessagesApi } from '../../../../test/support/fake-messages-api.js';
import {
  message,
  refusal,
  text,
  TOKENS,
  VERDICT,
  verdict,
} from '../../../../test/support/fake-messages-answers.js';
import { TokenMeter } from '../triage-model.port.js';
import { failureOf, judge, modelAt } from '../../../../test/support/judge.js';

describe('AnthropicModel', () => {
  let api: FakeMessagesApi;

  beforeAll(async () => {
    api = await FakeMessagesApi.start();
  });

  afterEach(() => {
    const refused = [...api.refused];
    api.forget();
    expect(refused).toEqual([]);
  });

  afterAll(() => api.stop());

  it('returns the verdict with the model, the hash of the prompt and the tokens', async () => {
    api.script(verdict());
    const model = modelAt(api);
    expect(await judge(model)).toEqual({
      verdict: {
        classification: 'malicious',
        confidence: 0.8,
        category: 'phishing',
        reasoning: VERDICT.reasoning,
        indicators: [],
        mitre_techniques: ['T1566'],
        evidence: VERDICT.evidence,
        recommended_actions: ['quarantine_email'],
      },
      model: 'claude-sonnet-5-5-20261101',
      prompt_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      tokens: TOKENS,
      tool_calls: [],
    });
    expect(model).toMatchObject({ provider: 'anthropic', configuredModel: 'claude-sonnet-5-5' });
  });

  it('accepts a verdict with an unknown action without another request', async () => {
    api.script(verdict({ recommended_actions: ['quarantine_email', 'rm_rf'] }));
    const { verdict: proposed } = await judge(modelAt(api));
    expect(proposed.classification).toBe('malicious');
    expect(api.requests).toHaveLength(1);
  });

  it('requests the configured model below the path of a proxy, with only the needed headers', async () => {
    api.script(verdict());
    await judge(
      modelAt(api, {
        anthropicBaseUrl: `${api.url}/proxy/`,
        anthropicModel: 'claude-haiku-5-5',
      }),
    );
    const [request] = api.requests;
    expect(request!.path).toBe('/proxy/v1/messages');
    expect(request!.body.model).toBe('claude-haiku-5-5');
    expect(Object.keys(request!.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'anthropic-version',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
    ]);
  });

  it('ignores headers and log settings of the environment', async () => {
    const log = jest.spyOn(console, 'debug').mockImplementation();
    const environment = { ANTHROPIC_CUSTOM_HEADERS: 'x-more: 1', ANTHROPIC_LOG: 'debug' };
    const replaced = jest.replaceProperty(process, 'env', environment);
    api.script(verdict());
    await judge(modelAt(api)).finally(() => replaced.restore());
    expect(api.requests[0]!.headers).not.toHaveProperty('x-more');
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  it.each([
    ['no usage', undefined],
    ['a usage that is a number', 7],
    ['fractions', { input_tokens: 1.5 }],
    ['negative counts', { output_tokens: -1 }],
    ['counts that are too high', { input_tokens: 1e300, output_tokens: 10_000_001 }],
  ])('counts no tokens if the response has %s', async (_, usage) => {
    api.script(message({ content: [{ type: 'text', text: JSON.stringify(VERDICT) }], usage }));
    expect((await judge(modelAt(api))).tokens).toEqual({ input: 0, output: 0, cached_input: 0 });
  });

  it('uses a new nonce for each incident, and keeps the incident out of the system prompt', async () => {
    api.script(verdict());
    await judge(modelAt(api));
    await judge(modelAt(api));
    const [first, second] = api.requests;
    expect(first!.body.system).toEqual(second!.body.system);
    expect(first!.body.system[0]!.text).not.toContain('billing@example.net');
    expect(first!.body.messages).not.toEqual(second!.body.messages);
    expect(first!.body.tools).toBeUndefined();
  });

  it('reads the last text block of an answer', async () => {
    const content = [
      { type: 'thinking', thinking: '…', signature: 's' },
      { type: 'text', text: 'I have looked at it.' },
      { type: 'text', text: JSON.stringify(VERDICT) },
    ];
    api.script(message({ content }));
    expect((await judge(modelAt(api))).verdict.classification).toBe('malicious');
  });

  it.each([
    ['max_tokens', text('{"classification":', 'max_tokens'), 'truncated', /cut/],
    [
      'max_tokens with a whole verdict',
      text(JSON.stringify(VERDICT), 'max_tokens'),
      'truncated',
      /cut/,
    ],
    [
      'the end of the context window',
      text('', 'model_context_window_exceeded'),
      'truncated',
      /too long for the model/,
    ],
    ['a refusal', refusal('cyber'), 'refused', /refused/],
    [
      'a reason that is new',
      text(JSON.stringify(VERDICT), 'tired'),
      'invalid_answer',
      /unknown reason/,
    ],
    [
      'a pause, which only tools of the provider cause',
      text('One moment.', 'pause_turn'),
      'invalid_answer',
      /unknown reason/,
    ],
    ['questions that are none', text('?', 'tool_use'), 'invalid_answer', /called a tool/],
    ['an answer of nothing', message({}), 'invalid_answer', /nothing/],
  ])('fails after %s without another request', async (_, answer, reason, words) => {
    api.script(answer, verdict());
    const meter = new TokenMeter();
    const failure = await failureOf(judge(modelAt(api), { meter }));
    expect(failure).toMatchObject({ reason, remedy: 'nothing' });
    expect(meter.tokens).toEqual(TOKENS);
    expect(failure.message).toMatch(words);
    expect(api.requests).toHaveLength(1);
  });

  it.each([
    ['no JSON', 'It is malicious.'],
    ['a confidence that is a word', JSON.stringify({ ...VERDICT, confidence: 'high' })],
    ['another classification', JSON.stringify({ ...VERDICT, classification: 'approved' })],
    ['deep JSON', '['.repeat(100_000)],
    ['no object', 'null'],
  ])('requests a repair if the answer is %s', async (_, words) => {
    api.script(text(words), verdict());
    const { verdict: given, tokens } = await judge(modelAt(api));
    expect(given.classification).toBe('malicious');
    expect(tokens.output).toBe(100);
    expect(api.requests[1]!.body.messages).toHaveLength(3);
  });

  it('requests at most one repair', async () => {
    api.script(text('It is malicious.'));
    const meter = new TokenMeter();
    const failure = await failureOf(judge(modelAt(api), { meter }));
    expect(failure).toMatchObject({ reason: 'invalid_answer', remedy: 'nothing' });
    expect(meter.tokens).toMatchObject({ input: 2_220, output: 100 });
    expect(api.requests).toHaveLength(2);
  });

  it('records the requested model before the response, and after it the model that the response names', async () => {
    const meter = new TokenMeter();
    const asked: unknown[] = [];
    api.whenAsked = () => asked.push(meter.asked);
    api.script(text('{"classification":', 'max_tokens'));
    await failureOf(judge(modelAt(api), { meter }));
    const prompt_hash = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    expect([...asked, meter.asked]).toEqual([
      { model: 'claude-sonnet-5-5', prompt_hash },
      { model: 'claude-sonnet-5-5-20261101', prompt_hash },
    ]);
  });
});
