import { Logger } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
import type { Transactions } from '../../platform/database/transactions.js';
import type { AuditVerificationDto } from '../audit.dto.js';
import type { AuditKeys } from './audit-chain.js';
import type { AuditChainRepository } from './audit-chain.repository.js';
import { AuditTrail } from './audit-trail.js';
import type { AuditWitness } from './audit-witness.js';

const nothing = () => Promise.resolve();

function trailWith(
  transactions: Partial<Record<keyof Transactions, () => Promise<unknown>>>,
  chain: Partial<Record<keyof AuditChainRepository, () => Promise<unknown>>> = {},
): AuditTrail {
  const witness = { load: nothing, save: nothing } as unknown as AuditWitness;
  return new AuditTrail(
    transactions as unknown as Transactions,
    chain as unknown as AuditChainRepository,
    { ring: { find: () => undefined } } as unknown as AuditKeys,
    witness,
    new Clock(),
  );
}

describe('the log of the audit trail after a sealing failure', () => {
  const [error, warn] = (['error', 'warn', 'log'] as const).map((level) =>
    jest.spyOn(Logger.prototype, level).mockImplementation(),
  );
  beforeEach(() => jest.clearAllMocks());
  afterAll(() => jest.restoreAllMocks());

  async function sealTwice(trail: AuditTrail): Promise<AuditTrail> {
    await trail.onApplicationBootstrap();
    // The shutdown tries to seal once more.
    await trail.onApplicationShutdown();
    return trail;
  }
  const failWith = (failure: Error) => sealTwice(trailWith({ run: () => Promise.reject(failure) }));

  it('contains a database outage once, and not as an error', async () => {
    await failWith(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    expect(error).not.toHaveBeenCalled();
    expect(warn!.mock.calls).toEqual([
      ['Sealing the audit trail waits for the database: connect ECONNREFUSED'],
    ]);
  });

  it('contains a broken chain exactly once, as an error', async () => {
    const end = { head: { key_id: 'lost' }, lastSeal: { seq: 3n } };
    const run = (work: (tx: never) => Promise<unknown>) => work({} as never);
    const trail = trailWith({ run } as never, {
      lockHead: () => Promise.resolve(true),
      readEnd: () => Promise.resolve(end),
    });
    await sealTwice(trail);
    expect(error!.mock.calls).toEqual([[expect.stringContaining('signed with the key lost')]]);
    expect(trail.broken).toContain('signed with the key lost');
  });

  it('contains any other failure exactly once, as an error', async () => {
    const failure = new Error('permission denied for table audit_seals');
    await failWith(failure);
    expect(error!.mock.calls).toEqual([[{ err: failure }, 'Sealing the audit trail failed.']]);
  });
});

describe('the verification of the audit trail', () => {
  const valid: AuditVerificationDto = { valid: true, checked: 1, unsealed: 0 };
  const ends: ((found: AuditVerificationDto | Error) => void)[] = [];
  const snapshot = () =>
    new Promise<AuditVerificationDto>((resolve, reject) => {
      ends.push((found) => (found instanceof Error ? reject(found) : resolve(found)));
    });
  const trail = trailWith({ snapshot, run: nothing });

  const begun = async (runs: number) => {
    while (ends.length < runs) await nextTurn();
  };

  it('runs only once more for all callers that arrive during a run', async () => {
    const first = trail.verify();
    await begun(1);
    const others = [1, 2, 3, 4].map(() => trail.verify());
    await nextTurn();
    expect(ends).toHaveLength(1);
    ends[0]!(new Error('the database is gone'));
    await expect(first).rejects.toThrow('the database is gone');
    await begun(2);
    ends[1]!(valid);
    expect(await Promise.all(others)).toEqual(others.map(() => valid));
    expect(ends).toHaveLength(2);
    const last = trail.verify();
    await begun(3);
    ends[2]!(valid);
    expect(await last).toEqual(valid);
  });
});
