import { BlockList, isIP } from 'node:net';
import type { Settings } from './settings.js';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** What an operator should be told who lets others reach the service and names no proxy. */
export function exposureWarning({
  host,
  trustProxy,
}: Pick<Settings, 'host' | 'trustProxy'>): string | undefined {
  if (trustProxy.length > 0 || isLoopback(host)) return undefined;
  return `HOST is ${host} and TRUST_PROXY is not set: X-Forwarded-* headers do not count. Behind a proxy all callers share one address and its limits, and session cookies are not marked Secure; set TRUST_PROXY to the addresses of the proxy.`;
}

function isLoopback(host: string): boolean {
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
