import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdvisoryLock } from './advisory-locks.js';

const SRC = join(__dirname, '../..');
const ADVISORY_CALL = /pg_\w*advisory\w*\(([^)]*)\)/g;
const BY_NAME = /^\$\{AdvisoryLock\.\w+\}$/;
const NAME = /\bAdvisoryLock\.(\w+)/g;

/** Calls without a fixed number, by their file. CountFold is given one of the names: its type is AdvisoryLock. */
const WITHOUT_NUMBER: Readonly<Record<string, string>> = {
  'actions/requests/twins.ts': 'target',
  'platform/counting/count-fold.ts': '$1',
  'platform/database/same-database.ts': '$1, $2',
  'platform/idempotency/idempotency.repository.ts': '$1::bigint',
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

  it('have a number each that no other has', () => {
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
  });

  it('are taken by their name alone, except those that have no fixed number', () => {
    const others = found(ADVISORY_CALL).filter(({ part }) => !BY_NAME.test(part));
    expect(Object.fromEntries(others.map(({ file, part }) => [file, part]))).toEqual(
      WITHOUT_NUMBER,
    );
  });

  it('are each taken somewhere', () => {
    const taken = found(NAME).map(({ part }) => part);
    const names = Object.keys(AdvisoryLock).filter((name) => Number.isNaN(Number(name)));
    expect([...new Set(taken)].sort()).toEqual(names.sort());
  });
});
