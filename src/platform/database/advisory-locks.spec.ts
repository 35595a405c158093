import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AdvisoryLock } from './advisory-locks.js';

const SRC = join(__dirname, '../..');
const ADVISORY_CALL = /pg_\w*advisory\w*\(([^)]*)\)/g;
const BY_NAME = /^\$\{AdvisoryLock\.(\w+)\}$/;

/** Locks without a fixed number, by the file that takes them. */
const WITHOUT_NUMBER: Readonly<Record<string, string>> = {
  'platform/database/same-database.ts': '$1, $2',
  'platform/idempotency/idempotency.repository.ts': '$1::bigint',
};

function advisoryCalls(): { readonly file: string; readonly argument: string }[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), 'utf8');
      return [...text.matchAll(ADVISORY_CALL)].map(([, argument]) => ({
        file,
        argument: argument!,
      }));
    });
}

describe('advisory locks', () => {
  const numbers = Object.values(AdvisoryLock).filter((value) => typeof value === 'number');

  it('have a number each that no other has', () => {
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.every(Number.isSafeInteger)).toBe(true);
  });

  it('are taken by their name alone, except those that have no fixed number', () => {
    const others = advisoryCalls().filter(({ argument }) => !BY_NAME.test(argument));
    expect(Object.fromEntries(others.map(({ file, argument }) => [file, argument]))).toEqual(
      WITHOUT_NUMBER,
    );
  });

  it('are each taken somewhere', () => {
    const taken = advisoryCalls().flatMap(({ argument }) => BY_NAME.exec(argument)?.[1] ?? []);
    const names = Object.keys(AdvisoryLock).filter((name) => Number.isNaN(Number(name)));
    expect([...new Set(taken)].sort()).toEqual(names.sort());
  });
});
