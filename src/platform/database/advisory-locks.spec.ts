import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdvisoryLock } from './advisory-locks.js';

const SRC = join(__dirname, '../..');
const ADVISORY_CALL = /pg_\w*advisory\w*\(([^)]*)\)/g;
const BY_NAME = /^\$\{AdvisoryLock\.\w+\}(?:$|, )/;
const NAME = /\bAdvisoryLock\.(\w+)/g;

/** Lock calls that use no member of the enum AdvisoryLock, by file. */
const WITHOUT_NUMBER: Readonly<Record<string, string>> = {
  'actions/duplicate-actions.ts': 'target',
  'platform/idempotency/idempotency.ts': '$1::bigint',
};

function found(pattern: RegExp): { readonly file: string; readonly part: string }[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), 'utf8');
      return [...text.matchAll(pattern)].map(([, part]) => ({ file, part: part! }));
    });
}

describe('advisory locks', () => {
  const numbers = Object.values(AdvisoryLock).filter((value) => typeof value === 'number');

  it('have distinct numbers', () => {
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
  });

  it('are taken by the name of their key, except in the listed calls', () => {
    const others = found(ADVISORY_CALL).filter(({ part }) => !BY_NAME.test(part));
    expect(Object.fromEntries(others.map(({ file, part }) => [file, part]))).toEqual(
      WITHOUT_NUMBER,
    );
  });

  it('are all used in the code', () => {
    const taken = found(NAME).map(({ part }) => part);
    const names = Object.keys(AdvisoryLock).filter((name) => Number.isNaN(Number(name)));
    expect([...new Set(taken)].sort()).toEqual(names.sort());
  });
});
