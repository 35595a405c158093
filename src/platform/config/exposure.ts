import { isLoopback } from '../addresses/network.js';
import type { Settings } from './settings.js';

/** What an operator should be told who lets others reach the service and names no proxy. */
export function exposureWarning({
  host,
  trustProxy,
}: Pick<Settings, 'host' | 'trustProxy'>): string | undefined {
  if (trustProxy.length > 0 || host === 'localhost' || isLoopback(host)) return undefined;
  return `HOST is ${host} and TRUST_PROXY is not set: X-Forwarded-* headers do not count. Behind a proxy all callers share one address and its limits, and session cookies are not marked Secure; set TRUST_PROXY to the addresses of the proxy.`;
}
