import fc from 'fast-check';
import type { HttpAction, HttpConfig } from './http-config.js';
import { requestFor } from './http-request.js';
import { CannotRender } from './rendering.js';

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
  it('puts each value where it belongs', () => {
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

  it('takes JSON as text, and a form as text', () => {
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
    'refuses %j as a path segment',
    (host) => {
      expect(() => request({ path: '/hosts/{{ parameters.host }}' }, { host })).toThrow(
        CannotRender,
      );
    },
  );

  it.each(['..a', 'a..b', 'a/b', 'v1.2', '%2e%2e'])('takes %j as a path segment', (host) => {
    const { url } = request({ path: '/hosts/{{ parameters.host }}' }, { host });
    expect(decodeURIComponent(url.pathname.split('/').at(-1)!)).toBe(host);
  });

  it.each([
    ['/a/{{ parameters.x }}{{ parameters.y }}/b', { x: '.', y: '.' }],
    ['/a/%2{{ parameters.x }}%2{{ parameters.x }}/b', { x: 'e' }],
    ['/a/.{{ parameters.x }}/b', { x: '.' }],
    ['/a/.{{ parameters.x }}/b', { x: './admin' }],
  ])('refuses dots that are put together: %s', (path, parameters) => {
    expect(() => request({ path }, parameters)).toThrow(CannotRender);
  });

  it.each(['a\r\nx-admin: 1', 'a\0', 'é'])('refuses %j in a header', (value) => {
    const headers = { 'x-user': '{{ parameters.user }}' };
    expect(() => request({ path: '/' }, { user: value }, { headers })).toThrow(CannotRender);
  });

  it('does not read what it put in as a template again', () => {
    const made = request(
      { path: '/', body: { a: 'x {{ parameters.a }}' } },
      { a: '{{ secrets.token }}' },
      { secrets: { token: 'hidden' } },
    );
    expect(JSON.parse(made.body!)).toEqual({ a: 'x {{ secrets.token }}' });
  });

  it('finds nothing that was not given, whatever it is called', () => {
    const body = { a: '{{ parameters.constructor }}', b: 'x{{ parameters.__proto__ }}' };
    expect(JSON.parse(request({ path: '/', body }, {}).body!)).toEqual({ b: 'x' });
  });

  it('never leaves its place, whatever the value', () => {
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
          return error instanceof CannotRender;
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
