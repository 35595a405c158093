import { setTimeout as sleep } from 'node:timers/promises';
import { EarlierPermits } from '../../src/kill-switch/settling.js';
import { SwitchLock } from '../../src/kill-switch/switch-lock.js';
import { type HistoryRecord, violationsIn } from '../support/kill-switch/history.js';
import { type Parts, SwitchReplica } from '../support/kill-switch/switch-replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const CLAIMERS = 6;
const ROUNDS = 3;

class NoLock extends SwitchLock {
  override async lockShared(): Promise<void> {}
  override async lockExclusively(): Promise<boolean> {
    return true;
  }
}

class NoWindow extends EarlierPermits {
  override async waitUntilLapsed(): Promise<void> {}
}

interface Run {
  readonly history: readonly HistoryRecord[];
  readonly activations: readonly number[];
}

/** Two replicas claim and send as fast as they can while the switch is turned on and off. */
async function run(url: string, parts: Partial<Parts>): Promise<Run> {
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
  const activations: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(500);
    activations.push(await (round % 2 === 0 ? one : other).activate());
    // A while in which what slipped through would send.
    await sleep(900);
    await (round % 2 === 0 ? other : one).deactivate();
  }
  over = true;
  await Promise.all(claimers);
  await Promise.all([one.close(), other.close()]);
  return { history, activations };
}

describe('the histories of a kill switch with two replicas', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(() => database.drop());

  it('hold no send and no claim after an activation', async () => {
    const { history, activations } = await run(database.url, {});
    expect(violationsIn(history)).toEqual([]);
    // The run was a race indeed: claims were sent, and some came too late to be.
    const claims = history.filter((one) => one.kind === 'claim');
    expect(claims.filter(({ sent }) => sent !== undefined).length).toBeGreaterThan(20);
    expect(claims.filter(({ sent }) => sent === undefined).length).toBeGreaterThan(0);
    expect(Math.max(...activations)).toBeLessThan(2_000);
  });

  it('show the fault without the window', async () => {
    const { history } = await run(database.url, { earlierPermits: new NoWindow() });
    expect(violationsIn(history).map(({ rule }) => rule)).toContain('sent while on');
  });

  it('show the fault without the lock', async () => {
    const { history } = await run(database.url, { lock: new NoLock() });
    expect(violationsIn(history).map(({ rule }) => rule)).toContain('claimed while on');
  });
});
