import { normalizeIp } from '@nestjs/throttler';
import { readIpAddress } from './ip-address.js';

/** Everything that is no address counts as one and the same sender. */
const UNKNOWN = 'unknown';

/** A /48 may have so many times the limit of one of its 65 536 networks: providers give it to one household or company. */
const SITE_SHARE = 8;

/** A machine has all of 127.0.0.0/8, and is one sender all the same. */
const LOOPBACK = '127.';

const BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/;
const V4_AND_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;

/**
 * The address that a socket or a proxy gives, without the port that some proxies append (`192.0.2.1:443`,
 * `[2001:db8::1]:443`), and in IPv4 where it is one that is mapped into IPv6. `unknown` for what is no address.
 */
export function bareAddress(written: string): string {
  const text = written.trim();
  const bare = BRACKETS.exec(text)?.[1] ?? V4_AND_PORT.exec(text)?.[1] ?? text;
  return readIpAddress(bare)?.address.text ?? UNKNOWN;
}

/** The network that an address counts for: whoever has an IPv6 address has its whole /64. */
export function networkOf(address: string): string {
  const bare = bareAddress(address);
  return bare.startsWith(LOOPBACK) ? `${LOOPBACK}0.0.1` : normalizeIp(bare, 64);
}

/** Whether the address is of the machine that the service runs on. */
export function isLoopback(address: string): boolean {
  return ['127.0.0.1', '::1'].includes(networkOf(address));
}

/** A network, and how many times the limit of a single network it may use. */
export interface CountedNetwork {
  readonly name: string;
  readonly share: number;
}

/** The networks for which an address counts, the narrowest first: of IPv6 its /64 and the /48 around it. */
export function countedNetworks(address: string): readonly [CountedNetwork, ...CountedNetwork[]] {
  const own = { name: networkOf(address), share: 1 };
  if (!own.name.endsWith('/64')) return [own];
  return [own, { name: normalizeIp(bareAddress(address), 48), share: SITE_SHARE }];
}
