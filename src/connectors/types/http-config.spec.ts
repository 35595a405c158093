import { configProblems } from '../../targets/target-check.js';
import type { Targets } from '../../platform/net/targets.js';
import { http, type HttpConfig } from './http.js';

function problems(action: object, more: Partial<HttpConfig> = {}) {
  const config = {
    base_url: 'https://vendor.example',
    secrets: { token: 's' },
    actions: { block_ip: { path: '/', ...action } },
    ...more,
  } as HttpConfig;
  return http.problems!(config, {} as Targets).map(({ field, message }) => [field, message]);
}

describe('the schema of the http type', () => {
  it('requires at least one success status', () => {
    const found = (success_statuses: number[]) => {
      const actions = { block_ip: { path: '/', success_statuses } };
      return configProblems(http.config, { base_url: 'https://vendor.example', actions });
    };
    expect(found([204])).toEqual([]);
    expect(found([])).toMatchObject([
      { field: 'config.actions.block_ip.success_statuses', code: 'size' },
    ]);
  });
});

describe('the configuration of the http type', () => {
  it('accepts templates that can be filled', () => {
    const path = '/a/{{ parameters.ip }}?y={{secrets.token}}&z=%20';
    expect(problems({ path, body: { a: [{ b: '{{ action.id }}' }] } })).toEqual([]);
    expect(problems({ body: '{"a": "{{ parameters.reason }}"}' })).toEqual([]);
    expect(problems({ body: { a: null, b: [1, true, null] } })).toEqual([]);
  });

  it.each([
    ['path', { path: '/{{ parameters.ipp }}' }, 'config.actions.block_ip.path', 'parameters.ipp'],
    [
      'query',
      { path: '/?h={{parameters.host_id}}' },
      'config.actions.block_ip.path',
      'parameters.host_id',
    ],
    [
      'body',
      { body: { a: ['{{ parameters.x }}'] } },
      'config.actions.block_ip.body.a.0',
      'parameters.x',
    ],
    [
      'text',
      { body: '{"a":"{{ parameters.x }}"}' },
      'config.actions.block_ip.body.a',
      'parameters.x',
    ],
  ])(
    'rejects a template in the %s with a parameter that the action type does not have',
    (_, action, field, expression) => {
      const [[found, message] = [], ...more] = problems(action);
      expect(found).toBe(field);
      expect(message).toContain(expression);
      expect(message).toContain('the known names in parameters are: ip, duration_minutes, reason');
      expect(more).toEqual([]);
    },
  );

  it('allows a parameter in a header only if one of the actions has the parameter', () => {
    const actions = { block_ip: { path: '/' }, isolate_host: { path: '/' } };
    const headersOf = (text: string) => problems({}, { actions, headers: { 'x-about': text } });
    expect(headersOf('{{ parameters.ip }}{{ parameters.host_id }}')).toEqual([]);
    expect(headersOf('{{ parameters.user }}')).toEqual([
      ['config.headers.x-about', expect.stringContaining('parameters.user')],
    ]);
  });

  it.each([
    ['{{ vars.x }}', '{{ vars.x }}'],
    ['{{ secrets.other }}', 'secrets.other'],
    ['{{ action.type }}', 'action.type'],
    [`{{ ${'x'.repeat(500)} }}`, `{{ ${'x'.repeat(60)}`],
  ])('names the invalid expression in the error if a path has %s', (text, shown) => {
    const [[, message] = []] = problems({ path: `/${text}` });
    expect(message).toContain(shown);
    expect(message!.length).toBeLessThan(400);
  });

  it.each([
    ['/a/{{ parameters.x', 'instead of'],
    ['/{{ x }}', 'instead of'],
    ['/{{ parameters.x.y }}', 'instead of'],
    ['/{{ parameters["x"] }}', 'instead of'],
    ['/{{ parameters.x | upper }}', 'instead of'],
    ['/{{ 1 + 1 }}', 'instead of'],
    ['/{{ process.env }}', 'instead of'],
    ['/{{}}', 'instead of'],
    ['/{{{{ parameters.x }}}}', 'instead of'],
    ['/{{ action.type }}', 'the known names in action are: id'],
    ['/a{{ secrets.other }}', 'the known names in secrets are: token'],
    ['/a/../b', 'must be a plain path'],
    ['/a/%2e%2E/b', 'must be a plain path'],
    ['/a\\b', 'must be a plain path'],
    ['/a#b', 'must be a plain path'],
    ['/a b', 'must be a plain path'],
  ])('rejects the path %s', (path, message) => {
    const found = problems({ path });
    expect(found[0]![0]).toBe('config.actions.block_ip.path');
    expect(found.map(([, text]) => text).join(' ')).toContain(message);
  });

  it.each([
    [{ a: { b: ['{{ nothing }}'] } }, 'config.actions.block_ip.body.a.b.0'],
    [{ '{{ parameters.ip }}': 1 }, 'config.actions.block_ip.body'],
    ['{"n": {{ parameters.duration_minutes }}}', 'config.actions.block_ip.body'],
    ['a={{ parameters.ip }}', 'config.actions.block_ip.body'],
  ])('rejects the body %j', (body, field) => {
    expect(problems({ body })[0]![0]).toBe(field);
  });

  const FIELD = 'config.actions.block_ip.body';
  const keys = (count: number) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [at, 0])));

  it.each([
    ['values', `[${'[],'.repeat(20_000)}[]]`, 'has too many values'],
    ['keys', keys(5_001), 'has too many values'],
    ['levels by far', '['.repeat(500_000) + ']'.repeat(500_000), 'more than 64 levels'],
    ['levels', '['.repeat(65) + ']'.repeat(65), 'more than 64 levels'],
  ])('rejects a text body whose JSON has too many %s', (_, body, message) => {
    expect(problems({ body })).toEqual([[FIELD, expect.stringContaining(message)]]);
  });

  it.each([
    ['values', `[${'0,'.repeat(19_990)}0]`],
    ['keys', keys(5_000)],
    ['levels', '['.repeat(64) + ']'.repeat(64)],
    ['letters in a string', JSON.stringify({ a: '[{,:'.repeat(100_000) })],
  ])('accepts a text body whose JSON has as many %s as a body may have', (_, body) => {
    expect(problems({ body })).toEqual([]);
  });

  it('allows only a text as the body of a form', () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    expect(problems({ body: 'a={{ parameters.ip }}' }, { headers })).toEqual([]);
    expect(problems({ body: { a: 1 } }, { headers })).toHaveLength(1);
  });

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'proxy-authorization'])(
    'rejects the header %s, which the service sets',
    (name) => expect(problems({}, { headers: { [name]: 'x' } })).toHaveLength(1),
  );
});
