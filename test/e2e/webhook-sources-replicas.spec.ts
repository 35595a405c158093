import { setTimeout as sleep } from 'node:timers/promises';
import { SourceDirectory } from '../../src/webhooks/sources/source-directory.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const SECRET = 'secret-of-the-first-day!';
const NEW = 'secret-of-the-second-day';
/** From the answer on, by when a change has to count everywhere. */
const SOON_MS = 1_000;
/** For so long a name that nobody registered is taken for unknown. */
const UNKNOWN_MS = 50;

describe('The webhook sources of two replicas', () => {
  let here: TestApp;
  let there: TestApp;
  let admin: ApiClient;

  const put = (source: string, body: object) =>
    admin.request('PUT', `/api/webhooks/${source}`, { body });
  const find = (app: TestApp, source: string) => app.nest.get(SourceDirectory).find(source);
  const secrets = async (app: TestApp, source: string) =>
    (await find(app, source))?.secrets.map(({ value }) => value);

  beforeAll(async () => {
    here = await startTestApp();
    there = await startTestApp({ database: here.database });
    admin = await as(here, 'admin');
  });

  afterAll(async () => {
    await there?.close();
    await here?.close();
  });

  it('are known in both at once when they are new, and changes count in both within a second', async () => {
    const body = { source: 'gateway', secret: SECRET };
    expect(await find(there, 'gateway')).toBeUndefined();
    await sleep(UNKNOWN_MS + 1);
    expect((await admin.request('POST', '/api/webhooks', { body })).status).toBe(201);
    expect(await secrets(here, 'gateway')).toEqual([SECRET]);
    expect(await secrets(there, 'gateway')).toEqual([SECRET]);

    await put('gateway', { secret: NEW });
    expect(await secrets(here, 'gateway')).toEqual([NEW, SECRET]);
    await sleep(SOON_MS);
    expect(await secrets(there, 'gateway')).toEqual([NEW, SECRET]);

    await put('gateway', { revoke_old_secret: true });
    expect(await secrets(here, 'gateway')).toEqual([NEW]);
    await sleep(SOON_MS);
    expect(await secrets(there, 'gateway')).toEqual([NEW]);

    await put('gateway', { enabled: false });
    expect(await find(here, 'gateway')).toMatchObject({ enabled: false });
    await sleep(SOON_MS);
    expect(await find(there, 'gateway')).toMatchObject({ enabled: false });

    await admin.request('DELETE', '/api/webhooks/gateway');
    expect(await find(here, 'gateway')).toBeUndefined();
    await sleep(SOON_MS);
    expect(await find(there, 'gateway')).toBeUndefined();
  });

  it('have one winner when both register a name at once', async () => {
    const elsewhere = await as(there, 'admin');
    for (let round = 0; round < 5; round += 1) {
      const body = { source: `twin-${round}`, secret: SECRET };
      const answers = await Promise.all(
        [admin, elsewhere].map((client) => client.request('POST', '/api/webhooks', { body })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
      await sleep(UNKNOWN_MS + 1);
      expect(await secrets(here, body.source)).toEqual([SECRET]);
    }
  });
});
