import fc from 'fast-check';
import { RefusedError } from '../calls/vendor-answers.js';
import { type HttpAction, type HttpConfig, requestFor } from './http.js';

const BASE = 'https://vendor.example/api';

function request(
  action: HttpAction,
  parameters: Record<string, unknown>,
  more: Partial<HttpConfig> = {},
) {
  const config: HttpConfig = { base_url: BASE, actions: { block_ip: action }, ...more };
  return requestFor(config, action, { actionId: 'act-1', parameters });
}

describe('the request of an http action', () => {
  it('contains values in place of its templates', () => {
    const made = request(
      {
        method: 'PUT',
        path: '/hosts/{{ parameters.host }}/block?why={{parameters.reason}}',
        body: {
          id: '{{ action.id }}',
          text: 'for {{ parameters.host }}: {{ parameters.reason }}',
          minutes: '{{ parameters.minutes }}',
          absent: '{{ parameters.absent }}',
          nested: [{ token: '{{ secrets.token }}' }],
        },
      },
      { host: 'web/1', reason: 'a&b "c"', minutes: 5 },
      { secrets: { token: 's' }, headers: { 'X-Key': 'k {{ secrets.token }}' } },
    );
    expect(made.method).toBe('PUT');
    expect(made.url.toString()).toBe(`${BASE}/hosts/web%2F1/block?why=a%26b%20%22c%22`);
    expect(JSON.parse(made.body!)).toEqual({
      id: 'act-1',
      text: 'for web/1: a&b "c"',
      minutes: 5,
      nested: [{ token: 's' }],
    });
    expect(made.headers).toMatchObject({
      'X-Key': 'k s',
      'content-type': 'application/json',
      'idempotency-key': 'act-1',
    });
  });

  it('contains JSON from a text body, or a form if the content type is a form', () => {
    const json = request({ path: '/', body: '{"a": "{{ parameters.a }}"}' }, { a: '","b":"' });
    expect(JSON.parse(json.body!)).toEqual({ a: '","b":"' });
    const form = request(
      { path: '/', body: 'a={{ parameters.a }}&b=1' },
      { a: 'x&b=2' },
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      },
    );
    expect(form.body).toBe('a=x%26b%3D2&b=1');
  });

  it.each(['.', '..', '', '\ud800', '../../admin', 'a/..', 'a\\..\\b', 'a/./b'])(
    'is rejected with %j as a path segment',
    (host) => {
      expect(() => request({ path: '/hosts/{{ parameters.host }}' }, { host })).toThrow(
        RefusedError,
      );
    },
  );

  it.each(['..a', 'a..b', 'a/b', 'v1.2', '%2e%2e'])(
    'is allowed with %j as a path segment',
    (host) => {
      const { url } = request({ path: '/hosts/{{ parameters.host }}' }, { host });
      expect(decodeURIComponent(url.pathname.split('/').at(-1)!)).toBe(host);
    },
  );

  it.each([
    ['/a/{{ parameters.x }}{{ parameters.y }}/b', { x: '.', y: '.' }],
    ['/a/%2{{ parameters.x }}%2{{ parameters.x }}/b', { x: 'e' }],
    ['/a/.{{ parameters.x }}/b', { x: '.' }],
    ['/a/.{{ parameters.x }}/b', { x: './admin' }],
  ])('is rejected if values form a dot segment in the path: %s', (path, parameters) => {
    expect(() => request({ path }, parameters)).toThrow(RefusedError);
  });

  it.each(['x; role=admin', 'x, y', 'x", uri="/', 'x\\'])(
    'is rejected with the value %j as a part of a header, but not as the whole header',
    (value) => {
      const sent = (header: string) =>
        request({ path: '/' }, { user: value }, { headers: { cookie: header } }).headers?.cookie;
      for (const header of ['target={{ parameters.user }}; role=viewer', ' {{parameters.user}}']) {
        expect(() => sent(header)).toThrow(
          'parameters.user contains ; , " or \\, which have a meaning in a header.',
        );
      }
      expect(sent('{{ parameters.user }}')).toBe(value);
    },
  );

  it('contains a secret unchanged in a header', () => {
    const secrets = { token: 'a="b", c; d' };
    const headers = { authorization: 'Digest {{ secrets.token }}' };
    expect(request({ path: '/' }, {}, { headers, secrets }).headers).toMatchObject({
      authorization: 'Digest a="b", c; d',
    });
  });

  it.each(['a\r\nx-admin: 1', 'a\0', 'é'])('is rejected with the value %j in a header', (value) => {
    const headers = { 'x-user': '{{ parameters.user }}' };
    expect(() => request({ path: '/' }, { user: value }, { headers })).toThrow(RefusedError);
  });

  it('contains a value that looks like a template unchanged', () => {
    const made = request(
      { path: '/', body: { a: 'x {{ parameters.a }}' } },
      { a: '{{ secrets.token }}' },
      { secrets: { token: 'hidden' } },
    );
    expect(JSON.parse(made.body!)).toEqual({ a: 'x {{ secrets.token }}' });
  });

  it('omits a missing parameter, even one named like an inherited property', () => {
    const body = { a: '{{ parameters.constructor }}', b: 'x{{ parameters.__proto__ }}' };
    expect(JSON.parse(request({ path: '/', body }, {}).body!)).toEqual({ b: 'x' });
  });

  it('contains any value only in the place of its template, or is rejected', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('.', '/', '\\', '%', '2', 'e', '?', '#', '@', ':', '\r', '\n'),
      }),
    );
    fc.assert(
      fc.property(anything, (value) => {
        let made;
        try {
          made = request(
            {
              path: '/one/{{ parameters.v }}/two?q={{ parameters.v }}&r=1',
              body: { v: 'a{{ parameters.v }}b', fixed: 1 },
            },
            { v: value },
          );
        } catch (error) {
          return error instanceof RefusedError;
        }
        const segments = made.url.pathname.split('/');
        return (
          made.url.origin === 'https://vendor.example' &&
          made.url.hash === '' &&
          segments.length === 5 &&
          segments[2] === 'one' &&
          segments[4] === 'two' &&
          decodeURIComponent(segments[3]!) === value &&
          made.url.searchParams.get('q') === value &&
          [...made.url.searchParams.keys()].join() === 'q,r' &&
          (JSON.parse(made.body!) as { v: string }).v === `a${value}b`
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
