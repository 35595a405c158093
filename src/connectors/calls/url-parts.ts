import { RefusedError } from './refused.error.js';

/** A segment `.` or `..`, also between encoded slashes, which some servers decode first. */
const DOT_SEGMENT = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;
/** Servers reject longer addresses, and names and ids are shorter. */
const LONGEST_VALUE = 2_000;

/** Whether an escaped segment could change the path. */
export function isDotSegment(escaped: string): boolean {
  return DOT_SEGMENT.test(escaped);
}

/** Escapes a path segment, a query value or a form value; `undefined` for half of a surrogate pair. */
export function escapedForUrl(text: string): string | undefined {
  if (!text.isWellFormed()) return undefined;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Builds the address of a request. Each part becomes one path segment or query value, whatever it contains, because
 * attackers may have chosen it.
 */
export function vendorUrl(
  base: string,
  path: readonly string[],
  query: Readonly<Record<string, string>> = {},
): URL {
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const segments = path.map((part) => `/${segment(part)}`).join('');
  const values = Object.entries(query).map(([name, value]) => `${name}=${escaped(value)}`);
  const url = new URL(`${origin}${prefix}${segments}`);
  // The escaping excludes this already. A mistake there must not send credentials to another host.
  if (url.origin !== origin) throw new Error('A path leads to another host.');
  url.search = values.join('&');
  return url;
}

function segment(part: string): string {
  const text = escaped(part);
  if (text === '' || isDotSegment(text)) throw new RefusedError('A value is not valid in a path.');
  return text;
}

function escaped(value: string): string {
  const text = value.length > LONGEST_VALUE ? undefined : escapedForUrl(value);
  if (text === undefined)
    throw new RefusedError('A value is too long for an address, or not valid text.');
  return text;
}
