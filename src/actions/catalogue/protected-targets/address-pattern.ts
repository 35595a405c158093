import { BlockList } from 'node:net';
import { type IpAddress, readIpAddress } from '../../../platform/addresses/ip-address.js';
import { isOnlyWildcards, matches } from './wildcards.js';

export type AddressPattern = (address: IpAddress) => boolean;

const BITS = { ipv4: 32, ipv6: 128 } as const;
/** Of `::ffff:10.0.0.0/104`, which is another way to write `10.0.0.0/8`. */
const MAPPED_BITS = 96;

/** An address, a range as CIDR, or a part of one with `*`; undefined when no address can match it. */
export function addressPattern(text: string): AddressPattern | undefined {
  const pattern = text.trim().toLowerCase();
  if (isOnlyWildcards(pattern)) return () => true;
  if (!pattern.includes('*')) return network(pattern);
  return pattern.includes(':') ? leadingGroups(pattern) : dotted(pattern);
}

function network(pattern: string): AddressPattern | undefined {
  const [text = '', bits, ...more] = pattern.split('/');
  const address = text.includes('%') ? undefined : readIpAddress(text)?.address;
  if (!address || more.length > 0) return undefined;
  const whole = BITS[text.includes(':') ? 'ipv6' : 'ipv4'];
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > whole)) return undefined;
  const given = bits === undefined ? whole : Number(bits);
  const isMapped = address.family === 'ipv4' && whole === BITS.ipv6;
  return subnet(address, isMapped ? Math.max(0, given - MAPPED_BITS) : given);
}

function subnet({ text, family }: IpAddress, bits: number): AddressPattern {
  const list = new BlockList();
  list.addSubnet(text, bits, family);
  return (address) => address.family === family && list.check(address.text, address.family);
}

const OCTETS = Array.from({ length: 256 }, (_, octet) => String(octet));

/** `10.0.*`, `10.*.0.1` or `10.0.0.1*`: the text of an address. */
function dotted(pattern: string): AddressPattern | undefined {
  if (!canBeDotted(pattern)) return undefined;
  return ({ family, text }) => family === 'ipv4' && matches(pattern, text);
}

/** Reads all addresses at once, octet by octet, and keeps the places of the pattern that one of them can have come to. */
function canBeDotted(pattern: string): boolean {
  const pastWildcards = (places: Set<number>): Set<number> => {
    for (const place of places) if (pattern[place] === '*') places.add(place + 1);
    return places;
  };
  const after = (places: ReadonlySet<number>, text: string): Set<number> =>
    [...text].reduce((before, character) => {
      const next = [...before].flatMap((place) => {
        if (pattern[place] === '*') return [place];
        return pattern[place] === character ? [place + 1] : [];
      });
      return pastWildcards(new Set(next));
    }, new Set(places));
  let places = pastWildcards(new Set([0]));
  for (const dot of ['', '.', '.', '.']) {
    const before = after(places, dot);
    places = new Set(OCTETS.flatMap((octet) => [...after(before, octet)]));
  }
  return places.has(pattern.length);
}

/** `2001:db8:*`: whole groups, and then anything. */
function leadingGroups(pattern: string): AddressPattern | undefined {
  const groups = /^((?:[0-9a-f]{1,4}:){1,7}):?\*(?::\*)*$/.exec(pattern)?.[1];
  if (groups === undefined) return undefined;
  const count = groups.split(':').length - 1;
  return subnet({ family: 'ipv6', text: count === 7 ? `${groups}0` : `${groups}:` }, 16 * count);
}
