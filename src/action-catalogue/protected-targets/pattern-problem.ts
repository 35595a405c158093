import { domainToASCII } from 'node:url';
import { hasFormat } from '../parameter-formats.js';
import { addressPattern } from './address-pattern.js';
import { hasFormatCharacter, normalForm } from './normal-form.js';
import { domainPattern, type ProtectedList } from './protected-targets.js';

const EXPECTED: Readonly<Record<ProtectedList, string>> = {
  hosts: 'it must be the name of a host',
  users: 'it must be the name of a user',
  senders: 'it must be an email address',
  domains: 'it must be a domain name of two or more labels',
  ips: 'it must be an IPv4 or IPv6 address, a range as CIDR, or such as 10.0.* or 2001:db8:*',
};

/** Why no target can match the pattern; undefined when one can. */
export function patternProblem(list: ProtectedList, pattern: string): string | undefined {
  if (hasFormatCharacter(pattern)) return 'it has characters that nobody sees';
  if (pattern.normalize('NFKC').includes('?')) return 'only * is a wildcard, ? is not';
  return CAN_MATCH[list](pattern) ? undefined : EXPECTED[list];
}

const CAN_MATCH: Readonly<Record<ProtectedList, (pattern: string) => boolean>> = {
  hosts: isName,
  users: isName,
  senders: (pattern) => sendersOf(normalForm(pattern)).some(isSender),
  domains: (pattern) => isDomain(filled(domainPattern(pattern))),
  ips: (pattern) => addressPattern(pattern) !== undefined,
};

function isName(pattern: string): boolean {
  return normalForm(pattern) !== '';
}

function isDomain(name: string): boolean {
  return hasFormat('domain', domainToASCII(name));
}

function isSender(address: string): boolean {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return at > 0 && hasFormat('email', `${address.slice(0, at)}@${domain}`);
}

/** A domain that the pattern matches, if it matches any. A wildcard may stand for several labels. */
function filled(pattern: string): string {
  return pattern.replaceAll('*', 'a.a');
}

/** Addresses, one of which the pattern matches if it matches any. When the pattern has no @, one of its wildcards stands for it. */
function sendersOf(pattern: string): string[] {
  if (pattern.includes('@')) {
    const at = pattern.lastIndexOf('@');
    return [`${pattern.slice(0, at).replaceAll('*', 'a')}@${filled(pattern.slice(at + 1))}`];
  }
  const parts = pattern.split('*');
  return parts.slice(1).map((_, at) => {
    const [before, after] = [parts.slice(0, at + 1), parts.slice(at + 1)];
    return `${before.join('a')}a@a.a${after.join('a.a')}`;
  });
}
