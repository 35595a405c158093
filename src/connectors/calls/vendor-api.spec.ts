import fc from 'fast-check';
import {
  type Gate,
  OutboundAnswer,
  type OutboundRequest,
} from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../platform/net/outbound-http.js';
import { RefusedError, textAt, valueAt } from './vendor-answers.js';
import { type Tokens, vendorApi, vendorUrl } from './vendor-api.js';

type Turn = readonly [status: number, body?: unknown] | Error;

const OPEN: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: async () => undefined }),
};
const ME = { path: ['me'] };
const nothing = (): void => undefined;
const CHANGE = {
  method: 'PATCH' as const,
  path: ['users', 'a/b'],
  query: { notify: 'no' },
  body: { enabled: false },
};
const TOKEN = 'token-that-nobody-sees';

/** API of a vendor that answers with the turns in order and then repeats the last turn. */
function apiOf(turns: readonly Turn[], tokens?: Tokens) {
  const requests: OutboundRequest[] = [];
  const http = {
    request: async (request: OutboundRequest) => {
      const turn = turns[Math.min(requests.length, turns.length - 1)]!;
      requests.push(request);
      if (turn instanceof Error) throw turn;
      const [status, body] = turn;
      const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
      return new OutboundAnswer(
        status,
        { 'content-type': 'application/json', 'retry-after': '0' },
        Buffer.from(text),
      );
    },
  } as OutboundHttp;
  const through = vendorApi(
    { http, wait: async () => undefined, secrets: ['client-secret-1'] },
    {
      vendor: 'The vendor',
      baseUrl: 'https://vendor.example.com/api',
      headers: { authorization: `Bearer ${TOKEN}` },
      tokens,
      complaintIn: (json) => {
        const said = valueAt(json, 'error');
        return typeof said === 'string' ? said : undefined;
      },
    },
  );
  return { api: through(OPEN), through, requests };
}

function renewable(): Tokens & { readonly renewed: unknown[] } {
  const renewed: unknown[] = [];
  return {
    renewed,
    headers: async () => ({ authorization: `Bearer token-number-${renewed.length}` }),
    renew: (refused) => void renewed.push(refused),
  };
}

describe('VendorApi', () => {
  it('sends JSON with the credentials, and parses the answer', async () => {
    const { api, requests } = apiOf([[200, { id: 'x' }]]);
    expect(await api.change(CHANGE, (json) => textAt(json, 'id'))).toBe('x');
    expect(requests).toMatchObject([
      {
        method: 'PATCH',
        url: new URL('https://vendor.example.com/api/users/a%2Fb?notify=no'),
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          authorization: `Bearer ${TOKEN}`,
        },
        body: '{"enabled":false}',
      },
    ]);
  });

  it('sends no content type without a body, and accepts an answer without one', async () => {
    const { api, requests } = apiOf([[204]]);
    await api.ask(ME, nothing);
    expect(requests[0]!.headers!['content-type']).toBeUndefined();
    expect(requests[0]!.body).toBeUndefined();
  });

  it.each([400, 403, 404, 409, 422, 429])(
    'shows the message of the vendor for status %i, without secrets',
    async (status) => {
      const said = `No  client-secret-1 nor\n${TOKEN}.`;
      const { api } = apiOf([[status, { error: said }]]);
      const failure = api.change(CHANGE);
      const message = `The vendor answered with status ${status}: No [secret] nor [secret].`;
      await expect(failure).rejects.toThrow(new RefusedError(message, status));
      await expect(failure).rejects.toMatchObject({ status });
    },
  );

  it('cuts long messages of the vendor, and quotes no HTML', async () => {
    const { api } = apiOf([[400, { error: 'x '.repeat(500) }]]);
    const error = await api.change(CHANGE).catch(({ message }: Error) => message);
    expect((error as string).length).toBeLessThan(400);
    const html = apiOf([[403, '<html>no</html>']]);
    await expect(html.api.change(CHANGE)).rejects.toThrow(RefusedError);
  });

  it('treats an error in an answer with status 200 as a refusal', async () => {
    const { api } = apiOf([[200, { error: 'channel_not_found' }]]);
    await expect(api.change(CHANGE)).rejects.toThrow(
      new RefusedError('The vendor answered with status 200: channel_not_found.'),
    );
  });

  it('follows no redirect', async () => {
    const { api } = apiOf([[302]]);
    await expect(api.change(CHANGE)).rejects.toThrow('Redirects are not followed.');
  });

  it.each<[string, Turn]>([
    ['status 500', [500, { error: 'oops' }]],
    ['status 408', [408]],
    ['HTML', [200, '<html>Please log in</html>']],
    ['JSON of another shape', [200, { other: 1 }]],
    ['nothing', [200]],
    ['a lost connection', new OutcomeUnknownError('cut', 'broken')],
  ])(
    'after %s, reports an unknown outcome of a change, and reports that a read was not sent',
    async (_, turn) => {
      const { api } = apiOf([turn]);
      const read = (json: unknown): string => textAt(json, 'id');
      await expect(api.change(CHANGE, read)).rejects.toThrow(OutcomeUnknownError);
      await expect(api.ask(ME, read)).rejects.toThrow(UnreachableError);
    },
  );

  it('reports the timeout of a read', async () => {
    const late = new OutcomeUnknownError('late', 'timeout');
    const { api } = apiOf([late]);
    await expect(api.ask(ME, nothing)).rejects.toBe(late);
  });

  it('reports an answer that is not JSON', async () => {
    const { api } = apiOf([[200, '{"id": ']]);
    await expect(api.change(CHANGE)).rejects.toThrow(
      new OutcomeUnknownError('The vendor answered with something other than JSON.', 'broken'),
    );
  });

  it('repeats a request once with renewed credentials after status 401, even if the request is not idempotent', async () => {
    const credentials = renewable();
    const { api, requests } = apiOf([[401], [200, {}]], credentials);
    await api.change(CHANGE);
    expect(requests.map(({ headers }) => headers!['authorization'])).toEqual([
      'Bearer token-number-0',
      'Bearer token-number-1',
    ]);
    expect(credentials.renewed).toEqual([{ authorization: 'Bearer token-number-0' }]);
  });

  it('gives up if the renewed credentials are rejected, too', async () => {
    const { api, requests } = apiOf([[401, { error: 'token-number-1 expired' }]], renewable());
    await expect(api.change(CHANGE)).rejects.toThrow(
      new RefusedError('The vendor does not accept the credentials: [secret] expired.', 401),
    );
    expect(requests).toHaveLength(2);
  });

  it('gives up after status 401 if the credentials cannot be renewed', async () => {
    const { api, requests } = apiOf([[401]]);
    await expect(api.change(CHANGE)).rejects.toThrow('does not accept');
    expect(requests).toHaveLength(1);
  });

  it('repeats any request after status 429, but only an idempotent request after status 503', async () => {
    const limited = apiOf([[429], [200, {}]]);
    await limited.api.change(CHANGE);
    expect(limited.requests).toHaveLength(2);
    const away = apiOf([[503], [200, {}]]);
    await expect(away.api.change(CHANGE)).rejects.toThrow(OutcomeUnknownError);
    expect(away.requests).toHaveLength(1);
    await away.api.change({ ...CHANGE, idempotent: true });
  });

  it('without a permit check, rejects changes and tries a read only once', async () => {
    const { through, requests } = apiOf([[503]]);
    await expect(through().ask(ME, nothing)).rejects.toThrow(UnreachableError);
    await expect(through().change(CHANGE)).rejects.toThrow('A change needs a gate');
    expect(requests).toMatchObject([{ timeoutMs: 5_000 }]);
  });

  it('throws errors of the permit check unchanged', async () => {
    const refusal = new Error('the switch is on');
    const shut: Gate = { send: () => Promise.reject(refusal) };
    const api = apiOf([[200]]).through(shut);
    await expect(api.change(CHANGE)).rejects.toBe(refusal);
    await expect(api.ask(ME, nothing)).rejects.toBe(refusal);
  });
});

const BASE = 'https://vendor.example.com/api/';

describe('vendorUrl', () => {
  it('encodes each path part as one segment and each query value as one value, below the base path', () => {
    const url = vendorUrl(BASE, ['users', "o'hara@example.com?x#y/z", 'move'], {
      $filter: "id eq 'a&b=c d'",
      $top: '2',
    });
    expect(url.href).toBe(
      'https://vendor.example.com/api/users/o%27hara%40example.com%3Fx%23y%2Fz/move' +
        '?$filter=id%20eq%20%27a%26b%3Dc%20d%27&$top=2',
    );
  });

  it.each(['', '.', '..', '../users', 'a/../b', '..\\b', '\ud800', 'x'.repeat(2_001)])(
    'rejects %j as a part of a path',
    (part) => {
      expect(() => vendorUrl(BASE, ['users', part])).toThrow(RefusedError);
    },
  );

  it.each(['\udc00', 'x'.repeat(2_001)])('rejects %j as a query value', (value) => {
    expect(() => vendorUrl(BASE, ['users'], { q: value })).toThrow(RefusedError);
  });

  it('preserves any text that it accepts, and never leads to another host or path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        let url: URL;
        try {
          url = vendorUrl(BASE, ['users', text, 'move'], { q: text });
        } catch (error) {
          expect(error).toBeInstanceOf(RefusedError);
          return;
        }
        const segments = url.pathname.split('/').map(decodeURIComponent);
        expect(segments).toEqual(['', 'api', 'users', text, 'move']);
        expect(url.searchParams.get('q')).toBe(text);
        expect(url.origin).toBe('https://vendor.example.com');
      }),
    );
  });
});
