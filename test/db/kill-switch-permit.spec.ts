import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '../../src/platform/database/transactions.js';
import { KillSwitch } from '../../src/kill-switch/kill-switch.js';
import { PERMIT_MS, type Permit } from '../../src/kill-switch/permit.js';
import { useTestDatabase } from '../support/open-test-database.js';

/** Counts lock waits only in this database, because other suites use the same server. */
const READING = `
  select count(*)::integer as n from pg_locks
   where not granted and database = (select oid from pg_database where datname = current_database())`;

describe('the permit of a claim', () => {
  const { query, statements, transactions } = useTestDatabase();
  const killSwitch = Reflect.construct(KillSwitch, [transactions, statements]) as KillSwitch;

  const waiters = async (tx: Tx): Promise<number> => {
    const [{ n } = { n: 0 }] = await tx.query<{ n: number }[]>(READING);
    return n;
  };

  it('is valid if the switch was read just now', async () => {
    expect((await transactions.run((tx) => killSwitch.claimPermit(tx))).fresh).toBe(true);
  });

  it('counts its validity from the start of the read of the switch, even if the read is slow', async () => {
    let slow: Promise<Permit> | undefined;
    await transactions.run(async (tx) => {
      await tx.query('lock table kill_switch in access exclusive mode');
      slow = killSwitch.renewPermit();
      while ((await waiters(tx)) === 0);
      await sleep(PERMIT_MS);
    });
    expect((await slow!).fresh).toBe(false);
  });

  it('sees an activation that was committed while the claim waited', async () => {
    let late: Promise<unknown> | undefined;
    await transactions.run(async (tx) => {
      await killSwitch['lock'](tx);
      late = killSwitch.renewPermit().catch((error: unknown) => error);
      while ((await waiters(tx)) === 0);
      await tx.query(
        `update kill_switch set active = true, reason = 'now', activated_by = 'x', activated_at = now()`,
      );
    });
    expect(await late).toMatchObject({ code: 'kill_switch_active' });
    await query('update kill_switch set active = false');
  });

  it('is never granted if its claim is refused', async () => {
    const refusing = killSwitch.renewPermit(() => Promise.reject(new Error('lost')));
    await expect(refusing).rejects.toThrow('lost');
  });
});
