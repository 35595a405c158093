import { ECHO_PATHS, EchoModule } from '../support/echo.module.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('query parameters', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ modules: [EchoModule], undocumented: ECHO_PATHS });
  });
  afterAll(() => app.close());

  const get = (query: string) => app.request('GET', `/test-only/echo?${query}`);

  it.each<[string, object]>([
    ['', {}],
    ['page=2&kind=a', { page: 2, kind: 'a' }],
    ['text=%C3%A9+b%2Bc', { text: 'é b+c' }],
    ['text=', { text: '' }],
    ['text=a=b', { text: 'a=b' }],
  ])('reads ?%s', async (query, expected) => {
    const answer = await get(query);
    expect([answer.status, answer.body.data.query]).toEqual([200, expected]);
  });

  it.each([
    ['page=0', 'page'],
    ['page=101', 'page'],
    ['page=1e1', 'page'],
    ['page=0x10', 'page'],
    ['page=%201', 'page'],
    ['page=1.0', 'page'],
    ['page=-1', 'page'],
    ['page=', 'page'],
    ['page=99999999999999999999', 'page'],
    ['kind=c', 'kind'],
    ['page=1&page=2', 'page'],
    ['text=a&text=a', 'text'],
    ['kind=a&kind=a', 'kind'],
    ['page[]=1', 'page[]'],
    ['text[a]=1', 'text[a]'],
    ['text=a%00b', 'text'],
    ['te%00xt=a', 'te\ufffdxt'],
    ['other=1', 'other'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
    ['toString=1', 'toString'],
  ])('refuses ?%s with 422 at %s', async (query, field) => {
    const { status, body } = await get(query);
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
    expect(body.error.details.errors.map((error: { field: string }) => error.field)).toContain(
      field,
    );
  });

  it.each(['text=%', 'text=%zz', 'text=%ff', 'text=%c3%28', 'text=%ed%a0%80', '%='])(
    'refuses the malformed ?%s with 400',
    async (query) => {
      const { status, body } = await get(query);
      expect([status, body.error.code]).toEqual([400, 'bad_request']);
    },
  );

  it('refuses parameters where none is declared, and ignores them for probes', async () => {
    const answer = await app.request('PUT', '/test-only/echo/1?a=1');
    expect([answer.status, answer.body.error.details.errors[0].field]).toEqual([422, 'a']);
    for (const query of ['a=1', 'a=1&a=2', 'a=%00', 'a=%', '__proto__=1']) {
      expect((await app.request('GET', `/live?${query}`)).status).toBe(200);
    }
  });

  it('reveals nothing of an unexpected error', async () => {
    const { status, body, text } = await app.request('GET', '/test-only/failing');
    expect([status, body.error.code]).toEqual([500, 'internal_error']);
    expect(text).not.toMatch(/secret|deep|\.ts|at /);
  });
});
