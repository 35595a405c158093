import { BlockList, isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { type IpAddress, readIpAddress, readIpRange } from '../platform/addresses/ip-address.js';
import { nfkc } from '../platform/text.js';
import { hasFormat, hasFormatCharacter } from './parameters.js';

/** Returns the reason why the pattern cannot match any target; `undefined` if it can. */
export function patternProblem(list: ProtectedList, pattern: string): string | undefined {
  if (hasFormatCharacter(pattern)) return 'it has invisible characters';
  if (pattern.normalize('NFKC').includes('?')) return 'only * is a wildcard, not ?';
  const [expected, canMatch] = EXPECTED[list];
  return canMatch(pattern) ? undefined : `it must be ${expected}`;
}

/** Per list: a description of valid patterns, and a check that the pattern can match a target. */
const EXPECTED: Readonly<Record<ProtectedList, readonly [string, (pattern: string) => boolean]>> = {
  hosts: ['the name of a host', isName],
  users: ['the name of a user', isName],
  senders: ['an email address', (pattern) => canBeSender(normalForm(pattern))],
  domains: [
    'a domain name of two or more labels',
    (pattern) => hasFormat('domain', domainToASCII(filled(domainPattern(pattern)))),
  ],
  ips: [
    'an IPv4 or IPv6 address, a range as CIDR, or such as 10.0.* or 2001:db8:*',
    (pattern) => addressPattern(pattern) !== undefined,
  ],
};

function isName(pattern: string): boolean {
  return normalForm(pattern) !== '';
}

/** Returns a domain that the pattern matches. A wildcard may stand for several labels. */
function filled(pattern: string): string {
  return pattern.replaceAll('*', 'a.a');
}

/** Accepts an incomplete address if a wildcard can stand for the missing part: `ceo@*`, `*example.com`. */
function canBeSender(pattern: string): boolean {
  if (!pattern.includes('@')) return pattern.includes('*');
  const at = pattern.lastIndexOf('@');
  const domain = domainToASCII(filled(pattern.slice(at + 1)));
  return hasFormat('email', `${pattern.slice(0, at).replaceAll('*', 'a')}@${domain}`);
}

export const PROTECTED_LISTS = ['hosts', 'users', 'senders', 'domains', 'ips'] as const;
export type ProtectedList = (typeof PROTECTED_LISTS)[number];

export type ProtectedTargetsSetting = Readonly<Partial<Record<ProtectedList, readonly string[]>>>;

/** Target kinds that a site can protect. A zone is a domain with all its subdomains. */
export type TargetKind = 'host' | 'user' | 'sender' | 'domain' | 'zone' | 'ip' | 'url';

type Comparison = (pattern: string, name: string) => boolean;
type Check = (value: string) => boolean;

export type Protection = Readonly<Record<TargetKind, Check>>;

/** Returns a function for each kind of target, which is true for a protected target. */
export function protectionBy(setting: ProtectedTargetsSetting): Protection {
  const addresses = (setting.ips ?? []).flatMap((text) => addressPattern(text) ?? []);
  /** An IPv6 address with an embedded IPv4 address is protected like the IPv4 address. */
  const isAddress: Check = (value) => {
    const read = readIpAddress(value.trim());
    const all = read ? [read.address, ...read.embedded] : [];
    return all.some((address) => addresses.some((pattern) => pattern(address)));
  };
  const isHost = protectedBy(setting.hosts, orShortName(hostLabel));
  const isUser = protectedBy(setting.users, orShortName(accountName));
  const isSender = protectedBy(setting.senders, matches);
  const isDomain = protectedBy(setting.domains, isBelow, domainPattern);
  const isNear: Comparison = (pattern, name) => isBelow(pattern, name) || isAbove(pattern, name);
  return {
    host: (value) => namesIn(value).some((name) => isHost(name) || isAddress(name)),
    user: (value) => namesIn(value).some(isUser),
    sender: (value) => {
      const address = addressOf(value);
      return isSender(address) || isDomain(address.slice(address.lastIndexOf('@') + 1));
    },
    domain: isDomain,
    zone: protectedBy(setting.domains, isNear, domainPattern),
    ip: isAddress,
    url: (value) => {
      if (!URL.canParse(value)) return false;
      const host = new URL(value).hostname.replace(/^\[(.*)\]$/, '$1');
      return isIP(host) === 0 ? isDomain(host) : isAddress(host);
    },
  };
}

/** A vendor may read a wildcard in a target as many names, so any pattern protects a target with a wildcard. */
function protectedBy(
  list: readonly string[] | undefined,
  compare: Comparison,
  read = normalForm,
): Check {
  const patterns = (list ?? []).map(read);
  return (value) => {
    if (patterns.length === 0) return false;
    const name = normalForm(value);
    return /[*?]/.test(name) || patterns.some((pattern) => compare(pattern, name));
  };
}

/** Reads `.example.com` as `example.com`, which includes all subdomains. */
function domainPattern(text: string): string {
  return normalForm(text.replace(/^[\s.]+/, ''));
}

/** Compares only the short names if one of the names is short: `dc-01` matches `dc-01.corp.example`. */
function orShortName(shortOf: (name: string) => string): Comparison {
  return (pattern, name) => {
    if (matches(pattern, name)) return true;
    const short = shortOf(pattern);
    const isShort = short === pattern || shortOf(name) === name;
    return isShort && !isOnlyWildcards(short) && matches(short, shortOf(name));
  };
}

/** Returns all names that a vendor may read in the value: the value, and parts such as `alice` in `CORP\alice`. */
function namesIn(value: string): string[] {
  const parts = nfkc(value)
    .split(/[\s,;|/\\"'`()<>[\]{}]/)
    .map((part) => part.replace(/^\.+/, ''));
  return [value, ...parts.map((part) => (part.endsWith('$') ? part.slice(0, -1) : part))].filter(
    (name) => name !== '',
  );
}

function hostLabel(name: string): string {
  return name.split('.', 1)[0]!;
}

/** Returns `ALICE` for `CORP\ALICE` and for `ALICE@CORP.EXAMPLE`. */
function accountName(name: string): string {
  return name.slice(name.lastIndexOf('\\') + 1).split('@', 1)[0]!;
}

function isBelow(pattern: string, name: string): boolean {
  return matches(pattern, name) || matches(`*.${pattern}`, name);
}

/** Compares only the part after the last wildcard. Otherwise `example.*` would be below every domain. */
function isAbove(pattern: string, name: string): boolean {
  return pattern.slice(pattern.lastIndexOf('*') + 1).endsWith(`.${name}`);
}

/** Returns the address without the display name: `Bob <bob@example.com>` is the same sender as `bob@example.com`. */
function addressOf(sender: string): string {
  const from = sender.lastIndexOf('<');
  const to = sender.indexOf('>', from);
  return from < 0 || to < 0 ? sender : sender.slice(from + 1, to);
}

const IDEOGRAPHIC_FULL_STOP = '\u3002';
const ENCODED_LABEL = /^xn--[a-z0-9-]+$/;

/** Returns a form that is equal for all spellings of a name. Upper case, because only there `ß` equals `ss`. */
export function normalForm(text: string): string {
  const plain = nfkc(text).replaceAll(IDEOGRAPHIC_FULL_STOP, '.').toLowerCase();
  const labels = withoutEnd(plain.trimStart()).split(/([.@\\])/);
  return labels.map(decoded).join('').toUpperCase();
}

function decoded(label: string): string {
  return ENCODED_LABEL.test(label) ? domainToUnicode(label) || label : label;
}

/** Removes dots and spaces at the end. A regular expression would take quadratic time for a long sequence of dots. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[.\s]/.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** True if the text matches the pattern, in which `*` stands for any characters. Takes linear time for any pattern. */
export function matches(pattern: string, text: string): boolean {
  const wanted = pattern.split('*');
  const first = wanted[0]!;
  const last = wanted.at(-1)!;
  if (wanted.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) {
    return false;
  }
  let at = first.length;
  const end = text.length - last.length;
  for (const part of wanted.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

function isOnlyWildcards(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}

type AddressPattern = (address: IpAddress) => boolean;

/** Prefix length of mapped addresses: `::ffff:10.0.0.0/104` is another spelling of `10.0.0.0/8`. */
const MAPPED_BITS = 96;

/** Parses an address, a CIDR range or whole groups before `*` (`10.0.*`); `undefined` if no address can match. */
function addressPattern(text: string): AddressPattern | undefined {
  const pattern = text.trim().toLowerCase();
  if (isOnlyWildcards(pattern)) return () => true;
  const octets = /^((?:\d{1,3}\.){1,3})\*(?:\.\*)*$/.exec(pattern)?.[1]?.slice(0, -1).split('.');
  if (octets) return network(`${[...octets, 0, 0, 0].slice(0, 4).join('.')}/${8 * octets.length}`);
  const groups = /^((?:[0-9a-f]{1,4}:){1,7}):?\*(?::\*)*$/.exec(pattern)?.[1];
  if (groups === undefined) return network(pattern);
  const count = groups.split(':').length - 1;
  return network(`${groups}${count === 7 ? '0' : ':'}/${16 * count}`);
}

function network(text: string): AddressPattern | undefined {
  const range = text.includes('%') ? undefined : readIpRange(text);
  const address = range && readIpAddress(range.text)?.address;
  if (!address) return undefined;
  const isMapped = address.family !== range.family;
  const list = new BlockList();
  list.addSubnet(
    address.text,
    isMapped ? Math.max(0, range.bits - MAPPED_BITS) : range.bits,
    address.family,
  );
  return ({ family, text: candidate }) =>
    family === address.family && list.check(candidate, family);
}
