import { inspect } from 'node:util';
import { FakeMessagesApi } from '../../../../test/support/fake-messages-api.js';
import {
  failure,
  type FakeAnswer,
  message,
  page,
  text,
  TOKENS,
  USAGE,
  VERDICT,
  verdict,
} from '../../../../test/support/fake-messages-answers.js';
import { TokenMeter } from '../triage-model.port.js';
import { CountingGate, failureOf, judge, modelAt } from '../../../../test/support/judge.js';

const saying = (message: string): FakeAnswer => {
  const body = { type: 'error', error: { type: 'invalid_request_error', message } };
  return { kind: 'answer', status: 400, body };
};
const json = (body: unknown): FakeAnswer => ({ kind: 'answer', status: 200, body });

describe('ProviderRequests', () => {
  let api: FakeMessagesApi;

  beforeAll(async () => {
    api = await FakeMessagesApi.start();
  });

  afterEach(() => api.forget());

  afterAll(() => api.stop());

  it.each([
    ['a wrong key', failure(401, 'authentication_error'), 'authentication', 'operator', 1],
    ['no permission', failure(403, 'permission_error'), 'authentication', 'operator', 1],
    ['an unpaid bill', failure(402, 'billing_error'), 'provider_error', 'operator', 1],
    ['a wrong request', failure(400, 'invalid_request_error'), 'provider_error', 'nothing', 1],
    ['no credit', saying('Your credit balance is too low.'), 'provider_error', 'operator', 1],
    ['a limit', saying('You have reached your specified limits.'), 'provider_error', 'operator', 1],
    [
      'a wrong request that quotes an incident',
      saying('messages.0: "Your credit balance is too low."'),
      'provider_error',
      'nothing',
      1,
    ],
    ['an unknown model', failure(404, 'not_found_error'), 'provider_error', 'operator', 1],
    [
      'an incident that is too large',
      failure(413, 'request_too_large'),
      'provider_error',
      'nothing',
      1,
    ],
    [
      'a redirect',
      failure(307, 'x', { location: 'http://127.0.0.1:1/' }),
      'provider_error',
      'operator',
      1,
    ],
    ['a rate limit', failure(429, 'rate_limit_error'), 'rate_limited', 'time', 3],
    ['too much load', failure(529, 'overloaded_error'), 'overloaded', 'time', 3],
    ['an error of its own', failure(500, 'api_error'), 'provider_error', 'time', 3],
    [
      'a failing proxy',
      { ...page('<html>'), status: 502 } as FakeAnswer,
      'provider_error',
      'time',
      3,
    ],
    ['a status that nobody knows', failure(799, 'x'), 'provider_error', 'time', 3],
    ['a cut connection', { kind: 'cut' } as const, 'provider_error', 'time', 3],
    ['an endless answer', { kind: 'huge' } as const, 'provider_error', 'time', 3],
    ['a page of 200', page('<html>Please log in</html>'), 'invalid_answer', 'operator', 1],
    ['a page that says it is JSON', json('<html>'), 'invalid_answer', 'operator', 1],
    ['nothing', json(''), 'invalid_answer', 'operator', 1],
    ['null', json('null'), 'invalid_answer', 'operator', 1],
    ['JSON that is no message', json({ ok: true }), 'invalid_answer', 'operator', 1],
    ['content that is text', message({ content: 'malicious' }), 'invalid_answer', 'time', 1],
    ['a block that is null', message({ content: [null] }), 'invalid_answer', 'time', 1],
    ['no stop reason', message({ stop_reason: null }), 'invalid_answer', 'time', 1],
    [
      'blocks without end',
      message({ content: Array.from({ length: 201 }, () => ({ type: 'text', text: '' })) }),
      'invalid_answer',
      'time',
      1,
    ],
    [
      'an answer without a body',
      { kind: 'answer', status: 204, body: '' } as const,
      'invalid_answer',
      'operator',
      1,
    ],
  ])('throws the reason and the remedy after %s', async (_, answer, reason, remedy, requests) => {
    api.script(answer);
    const outcome = await failureOf(judge(modelAt(api)));
    expect(outcome).toMatchObject({ reason, remedy });
    expect(api.requests).toHaveLength(requests);
  });

  it.each([
    ['a rate limit', failure(429, 'rate_limit_error', { 'retry-after': '0' })],
    ['too much load', failure(529, 'overloaded_error')],
    ['an error of the provider', failure(503, 'api_error')],
    ['a cut connection', { kind: 'cut' } as const],
  ])('retries after %s, with a permit check for each attempt', async (_, answer) => {
    api.script(answer, answer, verdict());
    const gate = new CountingGate();
    expect((await judge(modelAt(api), { gate })).verdict.classification).toBe('malicious');
    expect([gate.asked, api.requests.length]).toEqual([3, 3]);
  });

  it('waits as long as Retry-After asks', async () => {
    api.script(failure(429, 'rate_limit_error', { 'retry-after': '1' }), verdict());
    let waited = false;
    setTimeout(() => (waited = true), 900);
    await judge(modelAt(api));
    expect(waited).toBe(true);
  });

  it('does not wait beyond its deadline, and throws an error with the time of Retry-After', async () => {
    api.script(failure(429, 'rate_limit_error', { 'retry-after': '3600' }));
    expect(await failureOf(judge(modelAt(api)))).toMatchObject({
      reason: 'rate_limited',
      retryAfterMs: 3_600_000,
    });
    expect(api.requests).toHaveLength(1);
  });

  it('limits Retry-After to an hour', async () => {
    api.script(failure(529, 'overloaded_error', { 'retry-after': '999999999' }));
    const { retryAfterMs } = await failureOf(judge(modelAt(api)));
    expect(retryAfterMs).toBe(3_600_000);
  });

  it('throws a timeout without a retry if the provider never responds', async () => {
    api.script({ kind: 'hang' });
    const outcome = await failureOf(judge(modelAt(api, { triageTimeoutMs: 500 })));
    expect(outcome).toMatchObject({ reason: 'timeout', remedy: 'time' });
    expect(api.requests.length).toBeLessThan(2);
  });

  it('stops waiting for a retry when the signal is aborted', async () => {
    api.script(failure(529, 'overloaded_error', { 'retry-after': '8' }));
    const run = new AbortController();
    const given = new Error('the claim is lost');
    api.whenAsked = () => setTimeout(() => run.abort(given), 200);
    await expect(judge(modelAt(api), { signal: run.signal })).rejects.toBe(given);
    expect(api.requests).toHaveLength(1);
  });

  it('throws unreachable if no server listens', async () => {
    const closed = await FakeMessagesApi.start();
    const { url, key } = closed;
    await closed.stop();
    const outcome = await failureOf(judge(modelAt({ url, key })));
    expect(outcome).toMatchObject({ reason: 'unreachable', remedy: 'time' });
  });

  it('never sends the key to cloud metadata', async () => {
    const { key } = api;
    const outcome = await failureOf(judge(modelAt({ url: 'http://169.254.169.254', key })));
    expect(outcome).toMatchObject({ reason: 'unreachable', remedy: 'operator' });
  });

  it('never shows the key in an error, even if the provider repeats the key', async () => {
    const { key } = api;
    const headers = { 'request-id': key, 'x-key': key };
    const repeated = (status: number): FakeAnswer => ({
      kind: 'answer',
      status,
      body: { error: { type: key, message: `${key} is wrong` }, key },
      headers,
    });
    const answers = [repeated(401), repeated(529), repeated(200), page(key), json(`{"${key}`)];
    for (const answer of [...answers, { kind: 'cut' } as const]) {
      api.script(answer);
      const outcome = await failureOf(judge(modelAt(api)));
      expect(inspect(outcome, { depth: 20, showHidden: true })).not.toContain(key);
      expect(JSON.stringify(outcome)).not.toContain(key);
    }
  });

  it('counts the tokens of a response that is not a message', async () => {
    const meter = new TokenMeter();
    api.script(json({ usage: USAGE }));
    await failureOf(judge(modelAt(api), { meter }));
    expect(meter.tokens).toEqual(TOKENS);
  });

  it.each([
    ['the configured model if the response names no model', undefined, 'claude-sonnet-5-5'],
    ['the configured model if the name is not valid', '<script>', 'claude-sonnet-5-5'],
    ['the name that a proxy gives', 'vendor/claude@2:0', 'vendor/claude@2:0'],
  ])('returns as the name of the model %s', async (_, model, expected) => {
    const content = [{ type: 'text', text: JSON.stringify(VERDICT) }];
    api.script(message({ content, model }));
    expect((await judge(modelAt(api))).model).toBe(expected);
  });

  it('serves several requests at the same time', async () => {
    api.script(verdict());
    const model = modelAt(api);
    const all = await Promise.all([judge(model), judge(model), judge(model)]);
    expect(all.map(({ tokens }) => tokens)).toEqual([TOKENS, TOKENS, TOKENS]);
  });

  it('does not read the body of an error as a verdict', async () => {
    api.script({ kind: 'answer', status: 400, body: VERDICT }, text(JSON.stringify(VERDICT)));
    expect(await failureOf(judge(modelAt(api)))).toMatchObject({ reason: 'provider_error' });
  });
});
