import { ChaosReplica } from '../support/chaos/chaos-replica.js';
import { FULL, say, spread } from '../support/chaos/figures.js';
import { type Round, type SwitchHistory, switchHistory } from '../support/chaos/switch-storm.js';

const PATTERN: readonly Round[] = [
  'plain',
  'kill other',
  'plain',
  'stop other',
  'plain',
  'kill asked',
];
const ROUNDS = Array.from({ length: FULL ? 10 : 1 }, () => PATTERN).flat();
const LIMIT_MS = FULL ? 600_000 : 120_000;

describe('the kill switch of two replicas', () => {
  afterEach(() => ChaosReplica.killAll());

  const report = (history: SwitchHistory): void => {
    const { attempts, received, activations, unlocked, lastSendAfterAskedMs } = history;
    const rules = [...history.violations, ...history.afterStop].map(({ rule }) => rule);
    const faults = `${rules.filter((rule) => rule === 'sent while on').length} sent and ${rules.filter((rule) => rule === 'claimed while on').length} claimed while on`;
    say(`${attempts} attempts, ${received} requests received, ${faults}`);
    say(
      `  activations: ${spread(activations)}; ${unlocked} without the lock; the last request ${Math.round(lastSendAfterAskedMs)} ms after one was asked for`,
    );
  };

  it(
    'lets nothing reach the vendor after an activation, whichever replica is killed or stopped',
    async () => {
      const history = await switchHistory(ROUNDS);
      report(history);
      expect(history.violations).toEqual([]);
      // Between the last check and the socket a process can be stopped: at most the one request that was there.
      const stops = ROUNDS.filter((round) => round === 'stop other').length;
      const late = history.afterStop.filter(({ rule }) => rule === 'sent while on');
      expect(late.length).toBeLessThanOrEqual(stops);
      expect(history.received).toBeGreaterThan(ROUNDS.length);
    },
    LIMIT_MS,
  );
});
