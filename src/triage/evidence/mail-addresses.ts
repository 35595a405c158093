import { parsePointer } from '../../platform/json-pointer.js';
import { plainName, type RawText } from './raw-values.js';

/** Under which names data about a mail has its addresses, the best name first. */
export const FROM = [
  'from',
  'headerfrom',
  'p2sender',
  'fromaddress',
  'senderfromaddress',
  'sender',
  'senderaddress',
];
export const ENVELOPE = [
  'envelopefrom',
  'returnpath',
  'p1sender',
  'sendermailfromaddress',
  'mailfrom',
  'smtpmailfrom',
];
export const REPLY_TO = ['replyto', 'replytoaddress'];

export interface Found {
  readonly address: string;
  readonly pointer: string;
}

const NAMES = new Set([...FROM, ...ENVELOPE, ...REPLY_TO]);

/** The first address under each of the names that are looked for. */
export function addressesByName(texts: readonly RawText[]): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  for (const text of texts) {
    const name = nameOfAddress(text);
    if (!NAMES.has(name) || found.has(name)) continue;
    const address = bareAddress(text.value);
    if (address !== undefined) found.set(name, { address, pointer: text.pointer });
  }
  return found;
}

/** In the order of the names: the sender whom the reader sees is what `from` says, where there is one. */
export function firstNamed(
  addresses: ReadonlyMap<string, Found>,
  names: readonly string[],
): Found | undefined {
  return names.flatMap((name) => addresses.get(name) ?? [])[0];
}

/** `from` of `{"from": {"emailAddress": {"address": ...}}}`, as Microsoft Graph writes it, and of `{"from": {"email": ...}}`. */
function nameOfAddress({ name, owner, pointer }: RawText): string {
  if (name !== 'address' && name !== 'email') return name;
  if (owner !== 'emailaddress') return owner;
  return plainName(parsePointer(pointer)?.at(-3) ?? '');
}

/** A line of a mail's head has 998 characters at most. */
const LONGEST_LINE = 998;

function bareAddress(text: string): string | undefined {
  if (text.length > LONGEST_LINE) return undefined;
  const from = text.lastIndexOf('<');
  const to = text.indexOf('>', from);
  const inside = from < 0 || to < 0 ? text : text.slice(from + 1, to);
  const address = inside.trim().toLowerCase();
  return /^[^\s@]+@[^\s@]+$/.test(address) ? address : undefined;
}

/** A domain below which everybody can have one, such as `com` and `co.uk`. */
const SHARED = /^(?:[^.]+|(?:ac|co|com|edu|go|gov|ne|net|or|org)\.[a-z]{2})$/;

/** One is the other or lies below it. */
export function isSameSite(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long === short || (long.endsWith(`.${short}`) && !SHARED.test(short));
}
