import { isIP } from 'node:net';
import { readIpAddress } from '../../platform/addresses/ip-address.js';
import { nfkc } from '../../platform/text.js';
import { type AddressPattern, addressPattern } from './address-pattern.js';
import { normalForm } from './normal-form.js';
import { isOnlyWildcards, matches } from './wildcards.js';

export const PROTECTED_LISTS = ['hosts', 'users', 'senders', 'domains', 'ips'] as const;
export type ProtectedList = (typeof PROTECTED_LISTS)[number];

/** Patterns with `*` for any run of characters, per kind of target. */
export type ProtectedTargetsSetting = Readonly<Partial<Record<ProtectedList, readonly string[]>>>;

/** What a parameter of an action names that a site may protect. A zone is a domain together with all domains below it. */
export type TargetKind = 'host' | 'user' | 'sender' | 'domain' | 'zone' | 'ip' | 'url';

export interface Target {
  readonly kind: TargetKind;
  readonly value: string;
}

/** The targets that a site protects. Their patterns are read once. */
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
          (name) =>
            isProtectedBy(this.hosts, name, orShortName(hostLabel)) || this.protectsAddress(name),
        );
      case 'user':
        return namesIn(value).some((name) =>
          isProtectedBy(this.users, name, orShortName(accountName)),
        );
      case 'sender':
        return this.protectsSender(value);
      case 'domain':
        return isProtectedBy(this.domains, value, isBelow);
      case 'zone':
        return isProtectedBy(
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

  /** A sender is also protected by the domain of the address. */
  private protectsSender(value: string): boolean {
    const address = addressOf(value);
    const domain = address.slice(address.lastIndexOf('@') + 1);
    return (
      isProtectedBy(this.senders, address, matches) || isProtectedBy(this.domains, domain, isBelow)
    );
  }

  /** An IPv6 address that carries an IPv4 address is protected like that one. */
  private protectsAddress(value: string): boolean {
    const read = readIpAddress(value.trim());
    if (!read) return false;
    const all = [read.address, ...read.embedded];
    return this.ips.some((pattern) => all.some(pattern));
  }

  /** A URL is protected by its host. */
  private protectsUrl(value: string): boolean {
    if (!URL.canParse(value)) return false;
    const host = new URL(value).hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(host) === 0
      ? isProtectedBy(this.domains, host, isBelow)
      : this.protectsAddress(host);
  }
}

type Comparison = (pattern: string, name: string) => boolean;

/** A vendor may read a target with a wildcard as many names. So such a target counts as protected whenever the list is not empty. */
function isProtectedBy(patterns: readonly string[], value: string, compare: Comparison): boolean {
  if (patterns.length === 0) return false;
  const name = normalForm(value);
  return /[*?]/.test(name) || patterns.some((pattern) => compare(pattern, name));
}

/** `.example.com` is a common way to write `example.com` with all that is below it. */
export function domainPattern(text: string): string {
  return normalForm(text.replace(/^[\s.]+/, ''));
}

/** `dc-01` matches `dc-01.corp.example`: when one of the two is a short name, only the short names are compared. */
function orShortName(shortOf: (name: string) => string): Comparison {
  return (pattern, name) => {
    if (matches(pattern, name)) return true;
    const short = shortOf(pattern);
    const isShort = short === pattern || shortOf(name) === name;
    return isShort && !isOnlyWildcards(short) && matches(short, shortOf(name));
  };
}

/**
 * Everything that a vendor may read as a name: the value as it is, and its parts where it looks like several names, like a
 * name in a domain (`CORP\alice`), like a name in quotation marks, or like the account of a machine (`dc-01$`).
 */
function namesIn(value: string): string[] {
  const parts = nfkc(value)
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

/** Judged by what follows the last wildcard: otherwise `example.*` would be below every domain. */
function isAbove(pattern: string, name: string): boolean {
  return pattern.slice(pattern.lastIndexOf('*') + 1).endsWith(`.${name}`);
}

/** `Bob <bob@example.com>` is the same sender as `bob@example.com`. */
function addressOf(sender: string): string {
  const from = sender.lastIndexOf('<');
  const to = sender.indexOf('>', from);
  return from < 0 || to < 0 ? sender : sender.slice(from + 1, to);
}
