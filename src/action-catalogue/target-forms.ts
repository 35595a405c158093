import { domainToUnicode } from 'node:url';
import { nfkc } from '../platform/text.js';
import { BlockList, isIPv4 } from 'node:net';
import {
  type IpAddress,
  type IpRange,
  readIpAddress,
  readIpRange,
} from '../platform/addresses/ip-address.js';

/** Invisible characters: control characters, zero-width characters and direction marks. */
const FORMAT_CHARACTER = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
const ALL_FORMAT_CHARACTERS = new RegExp(FORMAT_CHARACTER, 'gu');

const IDEOGRAPHIC_FULL_STOP = '\u3002';
const ENCODED_LABEL = /^xn--[a-z0-9-]+$/;

/**
 * Normal form of targets and patterns, equal for all spellings of a name: NFKC letters, dots for every full stop,
 * decoded labels (`xn--…`), no dots or spaces at the end. Upper case, because only there `ß` equals `ss`.
 */
export function normalForm(text: string): string {
  const plain = nfkc(text).replaceAll(IDEOGRAPHIC_FULL_STOP, '.').toLowerCase();
  const labels = withoutEnd(plain.trimStart()).split(/([.@\\])/);
  return labels.map(decoded).join('').toUpperCase();
}

export function hasFormatCharacter(text: string): boolean {
  return FORMAT_CHARACTER.test(text);
}

/** For messages: quoted, on one line, with invisible characters escaped. */
export function visible(text: string): string {
  const escape = (character: string): string =>
    `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`;
  return JSON.stringify(text).replace(ALL_FORMAT_CHARACTERS, escape);
}

function decoded(label: string): string {
  return ENCODED_LABEL.test(label) ? domainToUnicode(label) || label : label;
}

/** Removes dots and spaces at the end. A regular expression would take quadratic time for a long row of dots. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[.\s]/.test(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** Whether the text matches the pattern, in which `*` stands for any characters. Takes linear time for any pattern. */
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

/** Whether the pattern matches everything. */
export function isOnlyWildcards(pattern: string): boolean {
  return /^\*+$/.test(pattern);
}

export type AddressPattern = (address: IpAddress) => boolean;

/** `::ffff:10.0.0.0/104` is another way to write `10.0.0.0/8`. */
const MAPPED_BITS = 96;
const LONGEST_IPV4 = '255.255.255.255'.length;

/** Parses an address, a CIDR range, or a pattern such as `10.0.*`; `undefined` if no address can match it. */
export function addressPattern(text: string): AddressPattern | undefined {
  const pattern = text.trim().toLowerCase();
  if (isOnlyWildcards(pattern)) return () => true;
  if (!pattern.includes('*')) return network(pattern);
  return pattern.includes(':') ? leadingGroups(pattern) : dotted(pattern);
}

function network(pattern: string): AddressPattern | undefined {
  const range = pattern.includes('%') ? undefined : readIpRange(pattern);
  const address = range && readIpAddress(range.text)?.address;
  if (!address) return undefined;
  const isMapped = address.family !== range.family;
  return subnet({
    ...address,
    bits: isMapped ? Math.max(0, range.bits - MAPPED_BITS) : range.bits,
  });
}

function subnet({ family, text, bits }: IpRange): AddressPattern {
  const list = new BlockList();
  list.addSubnet(text, bits, family);
  return (address) => address.family === family && list.check(address.text, family);
}

/** `10.0.*`, `10.*.0.1` or `10.0.0.1*`: matches the address as text. */
function dotted(pattern: string): AddressPattern | undefined {
  if (!matchesSomeIpv4(pattern.replace(/\*+/g, '*'))) return undefined;
  return ({ family, text }) => family === 'ipv4' && matches(pattern, text);
}

/** Texts of which one fits for each wildcard, if any text does: up to three dots, with a zero for each octet between them. */
const FILLS = ['', '.', '.0.', '.0.0.'].flatMap((dots) =>
  dots === '' ? ['', '0'] : [dots, `0${dots}`, `${dots}0`, `0${dots}0`],
);

function matchesSomeIpv4(pattern: string): boolean {
  if (!pattern.includes('*')) return isIPv4(pattern);
  const isTooLong = pattern.replaceAll('*', '').length > LONGEST_IPV4;
  if (isTooLong || pattern.split('.').length > 4) return false;
  return FILLS.some((text) => matchesSomeIpv4(pattern.replace('*', text)));
}

/** `2001:db8:*`: whole groups at the beginning, then anything. */
function leadingGroups(pattern: string): AddressPattern | undefined {
  const groups = /^((?:[0-9a-f]{1,4}:){1,7}):?\*(?::\*)*$/.exec(pattern)?.[1];
  if (groups === undefined) return undefined;
  const count = groups.split(':').length - 1;
  const text = count === 7 ? `${groups}0` : `${groups}:`;
  return subnet({ family: 'ipv6', text, bits: 16 * count });
}
