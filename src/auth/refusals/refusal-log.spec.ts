import type { AuditEntry } from '../../audit/audit-entry.js';
import type { AuditLog } from '../../audit/audit-log.js';
import type { Transactions } from '../../database/transactions.js';
import { RefusalLog } from './refusal-log.js';

const MINUTE = 60_000;

const refusal = (actor: string): AuditEntry => ({
  actor,
  action: 'auth.key_refused',
  subject: { type: 'address', id: actor },
});

describe('RefusalLog', () => {
  let rows: AuditEntry[];
  let log: RefusalLog;

  beforeEach(() => {
    jest.useFakeTimers();
    rows = [];
    log = new RefusalLog(
      { run: (work: (tx: never) => unknown) => work({} as never) } as unknown as Transactions,
      {
        recordAll: async (_tx: unknown, entries: AuditEntry[]) => void rows.push(...entries),
      } as unknown as AuditLog,
    );
    log.onModuleInit();
  });

  afterEach(async () => {
    await log.onApplicationShutdown();
    jest.useRealTimers();
  });

  it('writes the first at once and the others as a number, minute by minute', async () => {
    for (let index = 0; index < 1_000; index += 1) await log.count(refusal('address:a'));
    expect(rows).toEqual([refusal('address:a')]);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(rows.slice(1)).toEqual([{ ...refusal('address:a'), details: { repeated: 999 } }]);
    await log.count(refusal('address:a'));
    expect(rows).toHaveLength(3);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(rows).toHaveLength(3);
  });

  it('writes no more than so many rows a minute, whoever sends what', async () => {
    for (let index = 0; index < 10_000; index += 1) await log.count(refusal(`address:${index}`));
    expect(rows).toHaveLength(600);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(rows).toHaveLength(601);
    expect(rows.at(-1)).toMatchObject({ actor: 'system', details: { repeated: 9_400 } });
  });

  it('leaves nothing unwritten when the service stops', async () => {
    await log.count(refusal('address:a'));
    await log.count(refusal('address:a'));
    await log.onApplicationShutdown();
    expect(rows.at(-1)!.details).toEqual({ repeated: 1 });
  });
});
