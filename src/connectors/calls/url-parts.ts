import { RefusedError } from './refused.error.js';

/** A segment `.` or `..`, also between encoded slashes, which some servers decode before they resolve the path. */
const DOT_SEGMENT = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;
/** Servers refuse longer addresses, and no name or id is as long. */
const LONGEST_VALUE = 2_000;

/** Whether an escaped segment could lead to another place of the path. */
export function isDotSegment(escaped: string): boolean {
  return DOT_SEGMENT.test(escaped);
}

/** For a path segment, a query and a form alike. Undefined when the text is no proper one: half of a surrogate pair has no bytes. */
export function escapedForUrl(text: string): string | undefined {
  if (!text.isWellFormed()) return undefined;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * The address of a request at a vendor. Each part of the path becomes one segment and each value of the query one value,
 * whatever is in them: they may come from whoever wrote the mail that an incident is about.
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
  // What is escaped above excludes it already. A mistake there must not send credentials to another host.
  if (url.origin !== origin) throw new Error('A path leads to another host.');
  url.search = values.join('&');
  return url;
}

function segment(part: string): string {
  const text = escaped(part);
  if (text === '' || isDotSegment(text))
    throw new RefusedError('A value is no part of an address.');
  return text;
}

function escaped(value: string): string {
  const text = value.length > LONGEST_VALUE ? undefined : escapedForUrl(value);
  if (text === undefined) throw new RefusedError('A value is too long for an address, or no text.');
  return text;
}
