import { setTimeout as sleep } from 'node:timers/promises';
import { ask, ChaosSite, type Kind } from '../support/chaos/chaos-site.js';
import { FULL, say, spread } from '../support/chaos/figures.js';
import { eventually } from '../support/jobs/eventually.js';

const TIMES = FULL ? 100 : 5;
const AT_ONCE = 50;
/** A rejection has less to do before the lock of the row: without this hardly an approval wins. */
const HEAD_START_MS = 100;
const KIND: Kind = {
  type: 'isolate_host',
  parameters: { host_id: 'laptop-7' },
  behaviours: ['apply'],
};
const ENDED = ['completed', 'failed', 'rejected'];

describe('many who approve and reject one action at the same moment, on two replicas', () => {
  let site: ChaosSite;

  beforeAll(async () => {
    site = await ChaosSite.open([KIND], { settings: { APPROVAL_LEVELS: '{}' } });
  });
  afterAll(() => site?.close());

  it(
    'have one winner and the effect of that one',
    async () => {
      const analyst = await site.makeKey('analyst');
      const seniors = await Promise.all(Array.from({ length: 8 }, () => site.makeKey('senior')));
      const took: number[] = [];
      let approvals = 0;
      for (let time = 0; time < TIMES; time += 1) {
        const body = { action: KIND.type, parameters: KIND.parameters };
        const { url } = site.places[time % 2]!;
        const made = await ask(url, 'POST', '/api/actions/execute', { key: analyst, body });
        expect(made.body.data.status).toBe('pending_approval');
        const id: string = made.body.data.action_id;
        const start = performance.now();
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, async (_, at) => {
            const decision = (at + time) % 2 ? 'approve' : 'reject';
            if (decision === 'reject' && time % 2) await sleep(HEAD_START_MS);
            const answer = await ask(
              site.places[Math.floor(at / 2) % 2]!.url,
              'POST',
              `/api/actions/${id}/${decision}`,
              {
                key: seniors[at % seniors.length]!,
                body: decision === 'reject' ? { reason: 'no' } : {},
              },
            );
            return { decision, ...answer };
          }),
        );
        took.push(performance.now() - start);
        const winners = answers.filter(({ status }) => status === 200 || status === 202);
        const losers = answers.filter(({ status }) => status === 409);
        expect([winners.length, losers.length]).toEqual([1, AT_ONCE - 1]);
        const approved = winners[0]!.decision === 'approve';
        approvals += Number(approved);
        const action = await eventually(
          async () => (await ask(url, 'GET', `/api/actions/${id}`, { key: analyst })).body.data,
          ({ status }) => ENDED.includes(status),
        );
        expect(action.status).toBe(approved ? 'completed' : 'rejected');
        expect(site.vendor.effectsOf(id)).toBe(approved ? 1 : 0);
      }
      say(`${AT_ONCE} decisions at once, ${TIMES} times: ${approvals} approvals won`);
      say(`  all answered: ${spread(took)}`);
    },
    FULL ? 300_000 : 60_000,
  );
});
