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

/** By the order of the names: the sender whom the reader sees is what `from` says, where there is one. */
export function addressIn(texts: readonly RawText[], names: readonly string[]): Found | undefined {
  for (const name of names) {
    for (const text of texts) {
      const address = nameOfAddress(text) === name ? bareAddress(text.value) : undefined;
      if (address !== undefined) return { address, pointer: text.pointer };
    }
  }
  return undefined;
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
