import { isIP } from 'node:net';
import { readIpAddress } from '../../../platform/addresses/ip-address.js';
import { type AddressPattern, addressPattern } from './address-pattern.js';
import { normalForm } from './normal-form.js';
import { isOnlyWildcards, matches } from './wildcards.js';

export const PROTECTED_LISTS = ['hosts', 'users', 'senders', 'domains', 'ips'] as const;
export type ProtectedList = (typeof PROTECTED_LISTS)[number];

/** Patterns with `*` for any run of characters, per kind of target. */
export type ProtectedTargetsSetting = Readonly<Partial<Record<ProtectedList, readonly string[]>>>;

/** What of an action's parameters names something that a site may protect. A zone is a domain with all that is below it. */
export type TargetKind = 'host' | 'user' | 'sender' | 'domain' | 'zone' | 'ip' | 'url';

export interface Target {
  readonly kind: TargetKind;
  readonly value: string;
}

/** The targets of a site, whose patterns are read once. */
export class ProtectedTargets {
  private readonly hosts: readonly string[];
  private readonly users: readonly string[];
  private readonly senders: readonly string[];
  private readonly domains: readonly string[];
  private readonly ips: readonly AddressPattern[];

  constructor({ hosts, users, senders, domains, ips }: ProtectedTargetsSetting) {
    this.hosts = (hosts ?? []).map(normalForm);
    this.users = (users ?? []).map(normalForm);
    this.senders = (senders ?? []).map(normalForm);
    this.domains = (domains ?? []).map(domainPattern);
    this.ips = (ips ?? []).map(addressPattern).filter((pattern) => pattern !== undefined);
  }

  protects({ kind, value }: Target): boolean {
    switch (kind) {
      case 'host':
        return namesIn(value).some(
          (name) => holds(this.hosts, name, orShort(hostLabel)) || this.protectsAddress(name),
        );
      case 'user':
        return namesIn(value).some((name) => holds(this.users, name, orShort(accountName)));
      case 'sender':
        return this.protectsSender(value);
      case 'domain':
        return holds(this.domains, value, isBelow);
      case 'zone':
        return holds(
          this.domains,
          value,
          (one, other) => isBelow(one, other) || isAbove(one, other),
        );
      case 'ip':
        return this.protectsAddress(value);
      case 'url':
        return this.protectsUrl(value);
    }
  }

  /** By its domain too. */
  private protectsSender(value: string): boolean {
    const address = addressOf(value);
    const domain = address.slice(address.lastIndexOf('@') + 1);
    return holds(this.senders, address, matches) || holds(this.domains, domain, isBelow);
  }

  /** An IPv4 address in an IPv6 one is that IPv4 address. */
  private protectsAddress(value: string): boolean {
    const read = readIpAddress(value.trim());
    if (!read) return false;
    const all = [read.address, ...read.embedded];
    return this.ips.some((pattern) => all.some(pattern));
  }

  /** By its host. */
  private protectsUrl(value: string): boolean {
    if (!URL.canParse(value)) return false;
    const host = new URL(value).hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(host) === 0 ? holds(this.domains, host, isBelow) : this.protectsAddress(host);
  }
}

type Comparison = (pattern: string, name: string) => boolean;

/** A target with a wildcard may stand for any number of names at the vendor: it counts as protected wherever the list is not empty. */
function holds(patterns: readonly string[], value: string, compare: Comparison): boolean {
  if (patterns.length === 0) return false;
  const name = normalForm(value);
  return /[*?]/.test(name) || patterns.some((pattern) => compare(pattern, name));
}

/** `.example.com` is a common way to write `example.com` with all that is below it. */
export function domainPattern(text: string): string {
  return normalForm(text.replace(/^[\s.]+/, ''));
}

/** Where one of the two is short, it may be the short name of the other. */
function orShort(shortOf: (name: string) => string): Comparison {
  return (pattern, name) => {
    if (matches(pattern, name)) return true;
    const short = shortOf(pattern);
    const isShort = short === pattern || shortOf(name) === name;
    return isShort && !isOnlyWildcards(short) && matches(short, shortOf(name));
  };
}

/**
 * What a vendor may read as a name: the value as it is, and each part of what looks like several, like a name in a domain
 * (`CORP\alice`), in quotation marks, or like a machine's account (`dc-01$`).
 */
function namesIn(value: string): string[] {
  const parts = value
    .normalize('NFKC')
    .split(/[\s,;|/\\"'`()<>[\]{}]/)
    .map((part) => part.replace(/^\.+/, ''));
  return [value, ...parts.map((part) => (part.endsWith('$') ? part.slice(0, -1) : part))].filter(
    (name) => name !== '',
  );
}

/** `DC-01` of `DC-01.CORP.EXAMPLE`. */
function hostLabel(name: string): string {
  return name.split('.', 1)[0]!;
}

/** `ALICE` of `CORP\ALICE` and of `ALICE@CORP.EXAMPLE`. */
function accountName(name: string): string {
  return name.slice(name.lastIndexOf('\\') + 1).split('@', 1)[0]!;
}

function isBelow(pattern: string, name: string): boolean {
  return matches(pattern, name) || matches(`*.${pattern}`, name);
}

/** Judged by what follows the last wildcard: all else would make a parent of every domain. */
function isAbove(pattern: string, name: string): boolean {
  return pattern.slice(pattern.lastIndexOf('*') + 1).endsWith(`.${name}`);
}

/** `Bob <bob@example.com>` is the same sender as `bob@example.com`. */
function addressOf(sender: string): string {
  const from = sender.lastIndexOf('<');
  const to = sender.indexOf('>', from);
  return from < 0 || to < 0 ? sender : sender.slice(from + 1, to);
}
