/** Ids of version 7 begin with created_at in milliseconds: a bound in time is a bound of ids. */
const LAST_MS = 2 ** 48 - 1;

/** The least id that an incident created at this millisecond, or later, can have. */
export function firstIdAt(ms: number): string {
  const hex = Math.min(Math.max(ms, 0), LAST_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const FRACTION = /\.(\d+)/;

/** Created strictly after the given ISO 8601 time, which may be finer than a millisecond. */
export function firstIdAfter(time: string): string {
  return firstIdAt(wholeMs(time) + 1);
}

/** Created strictly before it: every id below the one returned. */
export function endIdBefore(time: string): string {
  const digits = FRACTION.exec(time)?.[1] ?? '';
  const finer = /[1-9]/.test(digits.slice(3));
  return firstIdAt(wholeMs(time) + (finer ? 1 : 0));
}

function wholeMs(time: string): number {
  return Date.parse(time.replace(FRACTION, (fraction) => fraction.slice(0, 4)));
}
