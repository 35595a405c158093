import { DataSource } from 'typeorm';
import { MOST_PLAYBOOKS } from '../../src/playbooks/playbooks.service.js';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** As many playbooks as wanted, at once. */
const FILL = `insert into playbooks (id, name, enabled, auto_run, definition, created_by, updated_by)
  select gen_random_uuid(), 'filler-' || number, true, false, '{}', 'test', 'test'
    from generate_series(1, $1) as number`;

describe('The number of playbooks', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('has a bound, which twins at once do not pass, and which deleted ones do not count for', async () => {
    const { client } = await makeKey(app, 'senior');
    const list = await client.request('GET', '/api/playbooks?per_page=1');
    const free = MOST_PLAYBOOKS - list.body.meta.total;
    await app.nest.get(DataSource).query(FILL, [free - 1]);
    const create = (name: string) => client.request('POST', '/api/playbooks', { body: { name } });

    const twins = await Promise.all(['a', 'b', 'c', 'd'].map(create));
    expect(twins.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const { body } = twins.find(({ status }) => status === 409)!;
    expect(body.error).toMatchObject({
      code: 'conflict',
      message: `There are ${MOST_PLAYBOOKS} playbooks, and no more may be: delete one first.`,
    });

    expect((await client.request('DELETE', '/api/playbooks/filler-1')).status).toBe(200);
    expect((await create('e')).status).toBe(201);
    expect((await create('f')).status).toBe(409);
  });
});
