import { makeKey } from '../support/principals.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { failure } from '../support/fake-messages-answers.js';
import { eventually } from '../support/jobs/eventually.js';
import { TriageWorld } from '../support/triage/triage-world.js';

const REPLICAS = 3;
/** Runs that are under way in a replica when the provider begins to refuse. */
const RUNS_AT_ONCE = 4;

/** The figures of "What each replica finds out by itself" in docs/operations.md. */
describe('what each replica finds out by itself', () => {
  it('costs five calls to a vendor that does not answer, for each replica', async () => {
    const world = await ActionWorld.start({}, REPLICAS);
    try {
      let calls = 0;
      world.vendor.plan = () => {
        calls += 1;
        return { behaviour: 'drop-before-reading', afterMs: 0 };
      };
      for (const app of world.replicas) {
        const { client } = await makeKey(app, 'analyst');
        for (let n = 0; n < 10; n += 1) {
          const { body } = await world.execute('lookup_ip', { client });
          expect(body.data).toMatchObject({ status: 'failed', result: { code: 'unreachable' } });
        }
      }
      expect(calls).toBe(5 * REPLICAS);
    } finally {
      await world.close();
    }
  });

  it('costs four requests to a provider that refuses its key, for each replica, whatever waits', async () => {
    const api = await FakeMessagesApi.start();
    const world = await TriageWorld.start(
      {
        TRIAGE_PROVIDER: 'anthropic',
        ANTHROPIC_API_KEY: api.key,
        ANTHROPIC_BASE_URL: api.url,
        TRIAGE_TIMEOUT_MS: '10000',
      },
      REPLICAS,
    );
    try {
      api.script(failure(401, 'authentication_error'));
      const ids: string[] = [];
      for (let n = 0; n < 30; n += 1) {
        const id = await world.incident();
        ids.push(id);
        await world.wantTriage(id);
      }
      for (const id of ids) {
        await eventually(
          () => world.runs(id),
          ([run]) => run?.status === 'queued' && run.error?.reason === 'authentication',
        );
      }
      expect(api.requests.length).toBeGreaterThanOrEqual(1);
      expect(api.requests.length).toBeLessThanOrEqual(RUNS_AT_ONCE * REPLICAS);
    } finally {
      await world.close();
      await api.stop();
    }
  });
});
