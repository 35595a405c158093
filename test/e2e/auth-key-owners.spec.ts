import { SamePerson } from '../../src/auth/authorisation.js';
import { CredentialVerification } from '../../src/auth/authentication/credential-verification.js';
import type { Principal } from '../../src/auth/principal.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { ApiClient } from '../support/api-client.js';
import { inSession, makeKey, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface MadeKey {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly client: ApiClient;
}

describe('the owner of an API key', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  let made = 0;
  async function keyMadeBy(client: ApiClient, role = 'admin'): Promise<MadeKey> {
    const body = { name: `key-${(made += 1)}`, role };
    const answer = await client.request('POST', '/api/api-keys', { body });
    expect(answer.status).toBe(201);
    const { id, name, key } = answer.body.data as { id: string; name: string; key: string };
    return {
      id,
      name: `key:${name}`,
      key,
      client: app.client.with({ authorization: `Bearer ${key}` }),
    };
  }
  const personOf = async (key: string) =>
    (await app.nest.get(CredentialVerification).verifyKey(key))?.person;
  const areOne = (one: Pick<Principal, 'name' | 'person'>, name: string) =>
    app.nest.get(Transactions).run((tx) => app.nest.get(SamePerson).isSamePerson(tx, one, name));

  it('is the user who created the key, also through other keys', async () => {
    const ada = await makeUser(app, 'admin');
    const bob = await makeUser(app, 'admin');
    const session = await inSession(app, ada);
    const first = await keyMadeBy(session);
    const second = await keyMadeBy(first.client);
    const other = await keyMadeBy(session);
    const third = await keyMadeBy(second.client);
    const bobs = await keyMadeBy(await inSession(app, bob));
    for (const { key } of [first, second, third, other]) expect(await personOf(key)).toBe(ada.name);
    const one = [ada, first, second, third, other];
    for (const { name } of one) {
      const caller = { name, person: ada.name };
      for (const also of one) expect(await areOne(caller, also.name)).toBe(true);
      expect(await areOne(caller, bob.name)).toBe(false);
      expect(await areOne({ name: bobs.name, person: bob.name }, name)).toBe(false);
      expect(await areOne(caller, bobs.name)).toBe(false);
    }
  });

  it('is shown with the keys, and the list finds keys by who created them', async () => {
    const ada = await makeUser(app, 'admin');
    const session = await inSession(app, ada);
    const first = await keyMadeBy(session);
    const second = await keyMadeBy(first.client);
    const list = async (createdBy: string) => {
      const path = `/api/api-keys?created_by=${encodeURIComponent(createdBy)}`;
      const { body } = await session.request('GET', path);
      expect(body.meta.total).toBe(body.data.length);
      return body.data as { id: string; created_by: string; owner: string }[];
    };
    expect(await list(ada.name)).toMatchObject([
      { id: first.id, created_by: ada.name, owner: ada.name },
    ]);
    expect(await list(first.name)).toMatchObject([
      { id: second.id, created_by: first.name, owner: ada.name },
    ]);
    expect(await list('nobody')).toEqual([]);
    const paged = await session.request('GET', `/api/api-keys?created_by=${ada.name}&page=2`);
    expect([paged.body.data, paged.body.meta.total]).toEqual([[], 1]);
    expect((await session.request('GET', '/api/api-keys?created_by=')).status).toBe(422);
  });

  it('is empty for a key of the first start, which counts as the same person as each key that it created', async () => {
    const root = await makeKey(app, 'admin');
    const one = await keyMadeBy(root.client);
    const other = await keyMadeBy(root.client);
    const below = await keyMadeBy(one.client);
    const alone = (name: string) => ({ name, person: name });
    expect(await personOf(root.key)).toBe(root.name);
    expect(await personOf(one.key)).toBe(one.name);
    for (const { name } of [one, other, below]) {
      expect(await areOne(alone(root.name), name)).toBe(true);
      expect(await areOne(alone(name), root.name)).toBe(true);
    }
    expect(await areOne(alone(below.name), one.name)).toBe(true);
    expect(await areOne(alone(one.name), other.name)).toBe(false);
    expect(await areOne(alone(below.name), other.name)).toBe(false);
    for (const name of ['system', 'playbook:phishing-response', 'webhook:siem', 'key:', 'nobody'])
      expect(await areOne(alone(one.name), name)).toBe(false);
  });
});
