import { Logger } from '@nestjs/common';
import type { AuditWitness } from './audit-witness.js';
import { type AuditSealer, BrokenChainError, AuditSealingLoop } from './audit-sealer.js';

describe('the log of the sealer if sealing fails', () => {
  const [error, warn] = (['error', 'warn', 'log'] as const).map((level) =>
    jest.spyOn(Logger.prototype, level).mockImplementation(),
  );
  beforeEach(() => jest.clearAllMocks());
  afterAll(() => jest.restoreAllMocks());

  async function failWith(failure: Error): Promise<AuditSealingLoop> {
    const nothing = () => Promise.resolve();
    const loop = new AuditSealingLoop(
      { sealPage: () => Promise.reject(failure) } as unknown as AuditSealer,
      { load: nothing, save: nothing } as unknown as AuditWitness,
    );
    await loop.onApplicationBootstrap();
    // The loop tries once more before it ends.
    await loop.onApplicationShutdown();
    return loop;
  }

  it('logs a database outage once, and not as an error', async () => {
    await failWith(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
    expect(error).not.toHaveBeenCalled();
    expect(warn!.mock.calls).toEqual([
      ['Sealing the audit trail waits for the database: connect ECONNREFUSED'],
    ]);
  });

  it('reports a broken chain exactly once, as an error', async () => {
    const loop = await failWith(new BrokenChainError('entry 3 was changed'));
    expect(error!.mock.calls).toEqual([[expect.stringContaining('entry 3 was changed')]]);
    expect(loop.broken).toContain('entry 3 was changed');
  });

  it('reports any other failure exactly once, as an error', async () => {
    const failure = new Error('permission denied for table audit_seals');
    await failWith(failure);
    expect(error!.mock.calls).toEqual([[{ err: failure }, 'Sealing the audit trail failed.']]);
  });
});
