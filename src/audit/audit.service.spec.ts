import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditVerificationDto } from './audit.dto.js';
import type { AuditRepository } from './audit.repository.js';
import { AuditService } from './audit.service.js';
import type { AuditVerifier } from './chain/audit-verifier.js';

describe('the verification of the audit trail', () => {
  const valid: AuditVerificationDto = { valid: true, checked: 1, unsealed: 0 };
  const ends: ((found: AuditVerificationDto | Error) => void)[] = [];
  const verify = () =>
    new Promise<AuditVerificationDto>((resolve, reject) => {
      ends.push((found) => (found instanceof Error ? reject(found) : resolve(found)));
    });
  const service = new AuditService({} as AuditRepository, { verify } as AuditVerifier);

  const begun = async (runs: number) => {
    while (ends.length < runs) await nextTurn();
  };

  it('runs once for all callers that come during a run, after that run, even if it fails', async () => {
    const first = service.verify();
    await begun(1);
    const others = [1, 2, 3, 4].map(() => service.verify());
    await nextTurn();
    expect(ends).toHaveLength(1);
    ends[0]!(new Error('the database is gone'));
    await expect(first).rejects.toThrow('the database is gone');
    await begun(2);
    ends[1]!(valid);
    expect(await Promise.all(others)).toEqual(others.map(() => valid));
    expect(ends).toHaveLength(2);
    const last = service.verify();
    await begun(3);
    ends[2]!(valid);
    expect(await last).toEqual(valid);
  });
});
