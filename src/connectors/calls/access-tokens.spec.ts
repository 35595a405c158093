import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { OutboundAnswer, type OutboundRequest } from '../../platform/net/outbound-request.js';
import { accessTokens } from './vendor-api.js';
import { RefusedError } from './vendor-answers.js';

const SECRET = 'client-secret-1';
const JSON_TYPE = { 'content-type': 'application/json' };

type Turn = Error | { readonly status: number; readonly body: unknown };

/** Login service that issues tokens, except in turns for which a test has set another response. */
function serviceOf() {
  const requests: OutboundRequest[] = [];
  const turns: Turn[] = [];
  const clock = { now: 0 };
  jest.spyOn(performance, 'now').mockImplementation(() => clock.now);
  const http = {
    request: async (request: OutboundRequest) => {
      requests.push(request);
      const issued = { access_token: `token-${requests.length}`, expires_in: 3_600 };
      const turn = turns.shift() ?? { status: 200, body: issued };
      if (turn instanceof Error) throw turn;
      return new OutboundAnswer(turn.status, JSON_TYPE, Buffer.from(JSON.stringify(turn.body)));
    },
  } as OutboundHttp;
  const tokens = accessTokens(
    { http, wait: async () => undefined, secrets: [SECRET] },
    new URL('https://login.example.com/token'),
    { client_id: 'me & you', client_secret: SECRET, grant_type: 'client_credentials' },
  );
  const issue = (body: unknown): void => void turns.push({ status: 200, body });
  return { tokens, requests, turns, clock, issue };
}

describe('accessTokens', () => {
  afterEach(() => jest.restoreAllMocks());

  it('sends the credentials as a form', async () => {
    const { tokens, requests } = serviceOf();
    expect(await tokens.headers()).toEqual({ authorization: 'Bearer token-1' });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: new URL('https://login.example.com/token'),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `client_id=me+%26+you&client_secret=${SECRET}&grant_type=client_credentials`,
      },
    ]);
  });

  it('requests one token for all concurrent callers', async () => {
    const { tokens, requests } = serviceOf();
    const all = await Promise.all(Array.from({ length: 50 }, () => tokens.headers()));
    expect(new Set(all.map(({ authorization }) => authorization)).size).toBe(1);
    expect(requests).toHaveLength(1);
  });

  it.each([
    [3_600, 2_879_999, 2_880_000],
    ['100', 79_999, 80_000],
    [undefined, 239_999, 240_000],
  ])(
    'replaces a token with a lifetime of %p seconds before it expires',
    async (expires_in, before, from) => {
      const { tokens, requests, clock, issue } = serviceOf();
      issue({ access_token: 'a', expires_in });
      await tokens.headers();
      clock.now = before;
      await tokens.headers();
      expect(requests).toHaveLength(1);
      clock.now = from;
      expect(await tokens.headers()).toEqual({ authorization: 'Bearer token-2' });
    },
  );

  it('throws if the login service fails when a new token is needed', async () => {
    const { tokens, turns, clock } = serviceOf();
    await tokens.headers();
    clock.now = 2_880_000;
    turns.push({ status: 500, body: {} });
    await expect(tokens.headers()).rejects.toThrow('The login service answered with status 500');
    expect(await tokens.headers()).toEqual({ authorization: 'Bearer token-3' });
  });

  it('replaces a rejected token only once, even if several callers report it', async () => {
    const { tokens, requests } = serviceOf();
    const refused = await tokens.headers();
    tokens.renew(refused);
    const next = await tokens.headers();
    expect(next).toEqual({ authorization: 'Bearer token-2' });
    tokens.renew(refused);
    expect(await tokens.headers()).toEqual(next);
    expect(requests).toHaveLength(2);
  });

  it.each([
    [400, 'answered with status 400'],
    [401, 'does not accept the credentials'],
    [403, 'answered with status 403'],
  ])(
    'shows the message of the login service after status %i, without the secret',
    async (status, words) => {
      const { tokens, turns } = serviceOf();
      const body = { error: 'invalid_client', error_description: `${SECRET} is\nwrong.` };
      turns.push({ status, body });
      const message = `The login service ${words}: invalid_client, [secret] is wrong.`;
      await expect(tokens.headers()).rejects.toThrow(new RefusedError(message, status));
    },
  );

  it('retries temporary failures, and after the last attempt reports that nothing was sent', async () => {
    const { tokens, turns, requests } = serviceOf();
    const lost = new OutcomeUnknownError('lost', 'timeout');
    turns.push(lost, { status: 503, body: {} });
    expect(await tokens.headers()).toEqual({ authorization: 'Bearer token-3' });
    tokens.renew(await tokens.headers());
    turns.push(lost, lost, lost);
    await expect(tokens.headers()).rejects.toThrow(UnreachableError);
    expect(requests).toHaveLength(6);
  });

  it.each([
    ['without a token', { token_type: 'Bearer' }],
    ['with a token of another type', { access_token: 7 }],
    ['with a token that breaks the header', { access_token: 'a\r\nx-admin: 1' }],
    ['with something else', '<html>'],
  ])('rejects an answer %s', async (_, body) => {
    const { tokens, issue } = serviceOf();
    issue(body);
    await expect(tokens.headers()).rejects.toThrow(UnreachableError);
    expect(await tokens.headers()).toEqual({ authorization: 'Bearer token-2' });
  });
});
