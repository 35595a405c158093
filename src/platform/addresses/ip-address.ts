import { isIPv4, isIPv6 } from 'node:net';

export interface IpAddress {
  readonly family: 'ipv4' | 'ipv6';
  readonly text: string;
}

/**
 * The address, and every IPv4 address that it stands for: a machine on the way may turn `::ffff:10.0.0.1`,
 * `64:ff9b::a00:1` or `2002:a00:1::` into 10.0.0.1. Undefined when it is no address.
 */
export function readIpAddress(
  text: string,
): { readonly address: IpAddress; readonly embedded: readonly IpAddress[] } | undefined {
  const bare = text.replace(/%.*$/, '');
  if (isIPv4(bare)) return { address: { family: 'ipv4', text: bare }, embedded: [] };
  if (!isIPv6(bare)) return undefined;
  const groups = groupsOf(bare);
  const [mapped] = MAPPED.test(prefixOf(groups, 6)) ? [fromGroups(groups, 6)] : [];
  // Mapped addresses are another way to write an IPv4 address: the socket goes to that.
  if (mapped) return { address: mapped, embedded: [] };
  return { address: { family: 'ipv6', text: bare }, embedded: embeddedIn(groups) };
}

const MAPPED = /^0:0:0:0:0:ffff$/;
const TRANSLATED = /^64:ff9b:0:0:0:0$/;
const COMPATIBLE = /^0:0:0:0:0:0$/;
const SIX_TO_FOUR = 0x2002;

function embeddedIn(groups: readonly number[]): IpAddress[] {
  const prefix = prefixOf(groups, 6);
  if (TRANSLATED.test(prefix) || COMPATIBLE.test(prefix)) return [fromGroups(groups, 6)];
  return groups[0] === SIX_TO_FOUR ? [fromGroups(groups, 1)] : [];
}

function prefixOf(groups: readonly number[], length: number): string {
  return groups
    .slice(0, length)
    .map((group) => group.toString(16))
    .join(':');
}

function fromGroups(groups: readonly number[], at: number): IpAddress {
  const bytes = groups.slice(at, at + 2).flatMap((group) => [group >> 8, group & 0xff]);
  return { family: 'ipv4', text: bytes.join('.') };
}

/** Of a valid address. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.replace(/[\d.]+$/, dottedToHex).split('::');
  const front = head === '' ? [] : head.split(':');
  if (tail === undefined) return front.map(hex);
  const back = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return [...front, ...zeros, ...back].map(hex);
}

function hex(group: string): number {
  return parseInt(group, 16);
}

function dottedToHex(end: string): string {
  if (!end.includes('.')) return end;
  const [a = 0, b = 0, c = 0, d = 0] = end.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}
