import { MicrosoftGraphServer } from './microsoft-graph-server.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const USER = '/v1.0/users/ada@example.com';

describe('a vendor of the tests', () => {
  const server = new MicrosoftGraphServer();
  let authorization: string;

  const request = (method: string, path: string, body?: string, headers: object = {}) =>
    fetch(`${server.url}${path}`, { method, body, headers: { authorization, ...headers } });

  beforeAll(async () => {
    await server.start();
    const { tenant_id, client_id, client_secret } = server.config;
    const form = new URLSearchParams({
      client_id,
      client_secret,
      scope: `${server.url}/.default`,
      grant_type: 'client_credentials',
    });
    const login = await fetch(`${server.url}/${tenant_id}/oauth2/v2.0/token`, {
      method: 'POST',
      body: form,
    });
    authorization = `Bearer ${((await login.json()) as { access_token: string }).access_token}`;
  });
  beforeEach(() => {
    server.forget();
    server.user('ada@example.com');
  });
  afterAll(() => server.stop());

  it('takes what the vendor documents', async () => {
    const answer = await request('PATCH', USER, '{"accountEnabled":false}', JSON_TYPE);
    expect([answer.status, server.users[0]!.accountEnabled]).toEqual([204, false]);
    expect(server.problems).toEqual([]);
  });

  it.each<[string, string, string, string | undefined, object]>([
    ['another method', 'PUT', USER, '{"accountEnabled":false}', JSON_TYPE],
    ['another path', 'PATCH', `${USER}/x`, '{"accountEnabled":false}', JSON_TYPE],
    ['a field that is not known', 'PATCH', USER, '{"accountEnabled":false,"x":1}', JSON_TYPE],
    ['a field of another type', 'PATCH', USER, '{"accountEnabled":"no"}', JSON_TYPE],
    ['no body', 'PATCH', USER, undefined, JSON_TYPE],
    ['a body that is no JSON', 'PATCH', USER, '{', JSON_TYPE],
    ['another content type', 'PATCH', USER, '{"accountEnabled":false}', FORM],
    ['a query where there is none', 'PATCH', `${USER}?x=1`, '{"accountEnabled":false}', JSON_TYPE],
    ['a body where there is none', 'POST', `${USER}/revokeSignInSessions`, '{}', JSON_TYPE],
    ['no query where there is one', 'GET', USER, undefined, {}],
    ['another value in the query', 'GET', `${USER}?$select=id`, undefined, {}],
    ['a login without its fields', 'POST', '/contoso.example/oauth2/v2.0/token', 'a=b', FORM],
  ])('refuses %s, and remembers it', async (_, method, path, body, headers) => {
    const answer = await request(method, path, body, headers);
    expect([400, 404]).toContain(answer.status);
    expect(server.problems).toHaveLength(1);
    expect(server.users[0]).toMatchObject({ accountEnabled: true, sessionsRevoked: 0 });
  });

  it('refuses credentials that are not good any more', async () => {
    server.tokens.expire();
    expect((await request('GET', '/v1.0/users?$select=id&$top=1')).status).toBe(401);
    expect(server.problems).toEqual([]);
  });
});
