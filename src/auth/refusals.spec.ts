/** @jest-environment-options {"ownModules": true} */
import { Logger } from '@nestjs/common';
import type { AuditEntry } from '../audit/audit-entry.js';
import type { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import type { Transactions } from '../platform/database/transactions.js';
import { Refusals } from './refusals.js';

const MINUTE = 60_000;

const entryOf = (name: string, action: AuditEntry['action'] = 'auth.key_refused'): AuditEntry => ({
  actor: name,
  action,
  subject: { type: 'address', id: name },
});
type Refusal = Parameters<Refusals['write']>;
const stranger = (name: string): Refusal => ['address', name, entryOf(name)];
const atAccount = (name: string): Refusal => ['user', name, entryOf(name, 'auth.login_failed')];
const principal = (name: string, route: number): Refusal => [
  'principal',
  name,
  { actor: name, action: 'auth.role_refused', subject: { type: 'route', id: `${route}` } },
];

describe('the log of refused requests', () => {
  let rows: AuditEntry[];
  let log: Refusals;
  let isDown: boolean;

  const leftOut = () =>
    rows
      .filter(({ action }) => action === 'auth.refusals_counted')
      .map(({ subject, details }) => [`${subject.type}:${subject.id}`, details!.left_out]);

  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    rows = [];
    isDown = false;
    const run = (work: (tx: never) => unknown) => work({} as never);
    const record = async (_: unknown, ...entries: AuditEntry[]) => {
      await Promise.resolve();
      if (isDown) throw new Error('down');
      rows.push(...entries);
    };
    log = new Refusals(
      { run } as unknown as Transactions,
      { record } as unknown as AuditLog,
      new Clock(),
    );
  });

  afterEach(async () => {
    await log.onApplicationShutdown();
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('writes one row for each refusal of a caller, up to the limit per minute', async () => {
    for (let index = 0; index < 1_000; index += 1) await log.write(...stranger('a'));
    expect(rows).toEqual(Array.from({ length: 20 }, () => entryOf('a')));
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(leftOut()).toEqual([['address:a', 980]]);
    await log.write(...stranger('a'));
    expect(rows).toHaveLength(22);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(rows).toHaveLength(22);
  });

  it('limits the rows of all unknown callers together per minute, and records number and times of the omitted rows', async () => {
    await jest.advanceTimersByTimeAsync(1_000);
    for (let index = 0; index < 300; index += 1) await log.write(...stranger(`${index}`));
    await jest.advanceTimersByTimeAsync(1_000);
    for (let index = 300; index < 9_999; index += 1) await log.write(...stranger(`${index}`));
    await jest.advanceTimersByTimeAsync(1_000);
    await log.write(...stranger('9999'));
    expect(rows).toHaveLength(300);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(rows.slice(300)).toEqual([
      {
        actor: 'system',
        action: 'auth.refusals_counted',
        subject: { type: 'address', id: 'several' },
        details: {
          refusals: 'auth.key_refused',
          left_out: 9_700,
          from: '1970-01-01T00:00:02.000Z',
          to: '1970-01-01T00:00:03.000Z',
        },
      },
    ]);
  });

  it('still writes rows of other accounts and keys while one account and one key cause many refusals', async () => {
    for (let index = 0; index < 1_000; index += 1) {
      await log.write(...stranger(`${index}`));
      await log.write(...atAccount('guessed'));
      await log.write(...principal('key:wild', index));
    }
    rows.length = 0;
    await log.write(...atAccount('other'));
    await log.write(...principal('key:other', 1));
    expect(rows.map(({ actor }) => actor)).toEqual(['other', 'key:other']);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(leftOut()).toEqual([
      ['user:guessed', 980],
      ['principal:key:wild', 980],
      ['address:several', 700],
    ]);
  });

  it('counts omitted refusals separately by kind', async () => {
    const login = (name: string): Refusal => ['address', name, atAccount(name)[2]];
    for (let index = 0; index < 400; index += 1) await log.write(...stranger(`${index}`));
    for (let index = 0; index < 50; index += 1) await log.write(...login(`${index}`));
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(leftOut()).toEqual([
      ['address:several', 100],
      ...Array.from({ length: 50 }, (_, index) => [`address:${index}`, 1]),
    ]);
  });

  it('writes all pending refusals on shutdown', async () => {
    const last = log.write(...stranger('a'));
    for (let index = 0; index < 400; index += 1) void log.write(...stranger(`${index}`));
    await log.onApplicationShutdown();
    await last;
    expect(rows).toHaveLength(301);
    expect(leftOut()).toEqual([['address:several', 101]]);
  });

  it('counts refusals during a database outage, and records the number afterwards', async () => {
    isDown = true;
    await log.write(...stranger('a'));
    await log.write(...stranger('a'));
    await log.write(...atAccount('b'));
    await jest.advanceTimersByTimeAsync(3 * MINUTE);
    expect(rows).toEqual([]);
    isDown = false;
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(leftOut()).toEqual([
      ['address:a', 2],
      ['user:b', 1],
    ]);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(rows).toHaveLength(2);
  });
});
