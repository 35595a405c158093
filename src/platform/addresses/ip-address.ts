import ipaddr from 'ipaddr.js';
import { isIP, isIPv4, isIPv6 } from 'node:net';

export interface IpAddress {
  readonly family: 'ipv4' | 'ipv6';
  readonly text: string;
}

interface IpRange extends IpAddress {
  readonly bits: number;
}

/** IPv6 ranges whose addresses embed an IPv4 address, with the index of the first byte of that IPv4 address. */
const CARRIERS = [
  // NAT64 (RFC 6052)
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), firstByte: 12 },
  // IPv4-compatible, deprecated (RFC 4291)
  { range: ipaddr.IPv6.parseCIDR('::/96'), firstByte: 12 },
  // 6to4 (RFC 3056)
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), firstByte: 2 },
];

/** Also returns embedded IPv4 addresses, to which a gateway may translate. Node rejects texts such as `127.1`. */
export function readIpAddress(
  text: string,
): { readonly address: IpAddress; readonly embedded: readonly IpAddress[] } | undefined {
  const withoutZone = text.replace(/%.*$/, '');
  if (isIPv4(withoutZone)) return { address: ipv4(withoutZone), embedded: [] };
  if (!isIPv6(withoutZone)) return undefined;
  const address = parseIpv6(withoutZone);
  if (address.isIPv4MappedAddress()) {
    return { address: ipv4(address.toIPv4Address().toString()), embedded: [] };
  }
  return { address: { family: 'ipv6', text: withoutZone }, embedded: embeddedIn(address) };
}

export function readIpRange(text: string): IpRange | undefined {
  const [address = '', length, ...more] = text.split('/');
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const mostBits = family === 'ipv4' ? 32 : 128;
  if (isIP(address) === 0 || more.length > 0) return undefined;
  if (length === undefined) return { family, text: address, bits: mostBits };
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  return bits <= mostBits ? { family, text: address, bits } : undefined;
}

function ipv4(text: string): IpAddress {
  return { family: 'ipv4', text };
}

/** Converts the address to hexadecimal first, because ipaddr.js confuses `::10.0.0.1` with `::ffff:10.0.0.1`. */
function parseIpv6(text: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1));
}

function embeddedIn(address: ipaddr.IPv6): IpAddress[] {
  const bytes = address.toByteArray();
  return CARRIERS.filter(({ range }) => address.match(range)).map(({ firstByte }) =>
    ipv4(bytes.slice(firstByte, firstByte + 4).join('.')),
  );
}
