import { normalizeIp } from '@nestjs/throttler';
import { readIpAddress } from './ip-address.js';

/** All invalid addresses share one counter. */
const UNKNOWN = 'unknown';

/** One machine owns all of 127.0.0.0/8, so the range counts as one address. */
const LOOPBACK = '127.';

const BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/;
const V4_AND_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;

/** Removes the port, and converts a mapped IPv6 address to IPv4. Returns `unknown` if the text is not an address. */
export function bareAddress(written: string): string {
  const text = written.trim();
  const bare = BRACKETS.exec(text)?.[1] ?? V4_AND_PORT.exec(text)?.[1] ?? text;
  return readIpAddress(bare)?.address.text ?? UNKNOWN;
}

/** Returns the network whose limit applies to an address. One IPv6 client usually has a whole /64. */
export function networkOf(address: string): string {
  const bare = bareAddress(address);
  return bare.startsWith(LOOPBACK) ? `${LOOPBACK}0.0.1` : normalizeIp(bare, 64);
}

export function isLoopback(address: string): boolean {
  return ['127.0.0.1', '::1'].includes(networkOf(address));
}
