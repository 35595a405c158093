import { normalizeIp } from '@nestjs/throttler';
import { readIpAddress } from './ip-address.js';

/** What is no address counts as one sender, however it is spelled. */
const UNKNOWN = 'unknown';

/** How many times the limit of one address the /48 above it may have: a household or a company, and not 65 536 of them. */
const SITE_SHARE = 8;

/** A machine has all of 127.0.0.0/8: one sender, as it has one ::1. */
const LOOPBACK = '127.';

const BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/;
const V4_AND_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;

/**
 * The address that a socket or a proxy tells of: some proxies append the port (`192.0.2.1:443`, `[2001:db8::1]:443`),
 * and IPv4 may come as IPv6. `unknown` for what is no address.
 */
export function bareAddress(written: string): string {
  const text = written.trim();
  const bare = BRACKETS.exec(text)?.[1] ?? V4_AND_PORT.exec(text)?.[1] ?? text;
  return readIpAddress(bare)?.address.text ?? UNKNOWN;
}

/** Who an address belongs to, for everything that counts by address: whoever has one of IPv6 has its whole /64. */
export function networkOf(address: string): string {
  const bare = bareAddress(address);
  return bare.startsWith(LOOPBACK) ? `${LOOPBACK}0.0.1` : normalizeIp(bare, 64);
}

/** Of the machine that the service runs on. */
export function isLoopback(address: string): boolean {
  return ['127.0.0.1', '::1'].includes(networkOf(address));
}

/** A network, and how many times the limit of a single address it may use. */
export interface CountedNetwork {
  readonly name: string;
  readonly share: number;
}

/** The networks that a limit by address counts in, the narrowest first. Providers give a customer up to a /48 of IPv6. */
export function countedNetworks(address: string): readonly [CountedNetwork, ...CountedNetwork[]] {
  const own = { name: networkOf(address), share: 1 };
  if (!own.name.endsWith('/64')) return [own];
  return [own, { name: normalizeIp(bareAddress(address), 48), share: SITE_SHARE }];
}
