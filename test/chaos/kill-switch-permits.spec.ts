import { setTimeout as sleep } from 'node:timers/promises';
import { EarlierPermits } from '../../src/kill-switch/kill-switch-activation.js';
import { KillSwitchRepository } from '../../src/kill-switch/kill-switch.repository.js';
import { type HistoryRecord, violationsIn } from '../support/kill-switch/history.js';
import { type Parts, SwitchReplica } from '../support/kill-switch/switch-replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const CLAIMERS = 6;
const ROUNDS = 3;

class WithoutLock extends KillSwitchRepository {
  override async lockShared(): Promise<void> {}
  override async lockExclusively(): Promise<boolean> {
    return true;
  }
}

class WithoutWaiting extends EarlierPermits {
  override async waitUntilLapsed(): Promise<void> {}
}

/**
 * Two replicas claim and send as fast as they can while the switch is turned on and off. The claimers stop only after the
 * last activation was answered, so a run that ends has shown that activations do not wait for claims to stop.
 */
async function run(url: string, parts: Partial<Parts>): Promise<readonly HistoryRecord[]> {
  const history: HistoryRecord[] = [];
  const [one, other] = [
    await SwitchReplica.open(1, url, history, parts),
    await SwitchReplica.open(2, url, history, parts),
  ];
  let over = false;
  const claimer = async (replica: SwitchReplica, seed: number): Promise<void> => {
    for (let turn = seed; !over; turn += 1) {
      // Some are slow to commit, and some are slow to send, up to beyond what a permit allows.
      const outcome = await replica.claim(50 + ((turn * 37) % 200), (turn * 131) % 1_100);
      if (outcome === 'refused') await sleep(10);
    }
  };
  const claimers = Array.from({ length: CLAIMERS }, (_, index) => [
    claimer(one, index),
    claimer(other, index + 50),
  ]).flat();
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(500);
    await (round % 2 === 0 ? one : other).activate();
    // A while in which what slipped through would send.
    await sleep(900);
    await (round % 2 === 0 ? other : one).deactivate();
  }
  over = true;
  await Promise.all(claimers);
  await Promise.all([one.close(), other.close()]);
  return history;
}

describe('the history of a kill switch with two replicas', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(() => database.drop());

  it('holds no send and no claim after an activation', async () => {
    const history = await run(database.url, {});
    expect(violationsIn(history)).toEqual([]);
    // The run was a race indeed: claims were sent, and some came too late to be.
    const claims = history.filter((one) => one.kind === 'claim');
    expect(claims.filter(({ sent }) => sent !== undefined).length).toBeGreaterThan(20);
    expect(claims.filter(({ sent }) => sent === undefined).length).toBeGreaterThan(0);
  });

  it('shows sends while the switch is on when an activation does not wait', async () => {
    const history = await run(database.url, { earlierPermits: new WithoutWaiting() });
    expect(violationsIn(history).map(({ rule }) => rule)).toContain('sent while on');
  });

  it('shows claims while the switch is on when claims take no lock', async () => {
    const history = await run(database.url, { Repository: WithoutLock });
    expect(violationsIn(history).map(({ rule }) => rule)).toContain('claimed while on');
  });
});
