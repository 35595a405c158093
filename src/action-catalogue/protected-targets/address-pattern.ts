import { BlockList } from 'node:net';
import {
  type IpAddress,
  type IpRange,
  readIpAddress,
  readIpRange,
} from '../../platform/addresses/ip-address.js';
import { isOnlyWildcards, matches } from './wildcards.js';

export type AddressPattern = (address: IpAddress) => boolean;

/** `::ffff:10.0.0.0/104` is another way to write `10.0.0.0/8`. */
const MAPPED_BITS = 96;

/** Reads an address, a range in CIDR notation, or a pattern such as `10.0.*`; undefined when no address can match it. */
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

const OCTETS = Array.from({ length: 256 }, (_, octet) => String(octet));

/** `10.0.*`, `10.*.0.1` or `10.0.0.1*`: compared with the address as text. */
function dotted(pattern: string): AddressPattern | undefined {
  if (!canBeDotted(pattern)) return undefined;
  return ({ family, text }) => family === 'ipv4' && matches(pattern, text);
}

/**
 * Whether some IPv4 address matches the pattern. All addresses are read at once, octet by octet: `positions` are those in
 * the pattern up to which some address matches so far.
 */
function canBeDotted(pattern: string): boolean {
  // A wildcard may also stand for nothing.
  const pastWildcards = (positions: Set<number>): Set<number> => {
    for (const at of positions) if (pattern[at] === '*') positions.add(at + 1);
    return positions;
  };
  const after = (positions: ReadonlySet<number>, text: string): Set<number> =>
    [...text].reduce((before, character) => {
      const next = [...before].flatMap((at) => {
        if (pattern[at] === '*') return [at];
        return pattern[at] === character ? [at + 1] : [];
      });
      return pastWildcards(new Set(next));
    }, new Set(positions));
  let positions = pastWildcards(new Set([0]));
  for (const dot of ['', '.', '.', '.']) {
    const before = after(positions, dot);
    positions = new Set(OCTETS.flatMap((octet) => [...after(before, octet)]));
  }
  return positions.has(pattern.length);
}

/** `2001:db8:*`: whole groups at the beginning, then anything. */
function leadingGroups(pattern: string): AddressPattern | undefined {
  const groups = /^((?:[0-9a-f]{1,4}:){1,7}):?\*(?::\*)*$/.exec(pattern)?.[1];
  if (groups === undefined) return undefined;
  const count = groups.split(':').length - 1;
  const text = count === 7 ? `${groups}0` : `${groups}:`;
  return subnet({ family: 'ipv6', text, bits: 16 * count });
}
