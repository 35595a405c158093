import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { readIpAddress } from '../common/net/ip-address.js';
import type { TargetKind } from './action-catalogue.js';

/** Patterns with `*` for any run of characters, per kind of target. */
export interface ProtectedTargets {
  readonly hosts?: readonly string[];
  readonly users?: readonly string[];
  readonly senders?: readonly string[];
  readonly domains?: readonly string[];
  readonly ips?: readonly string[];
}

interface Name {
  readonly list: keyof ProtectedTargets;
  readonly text: string;
}

/** By what the target may be protected: a sender by its domain too, a URL by its host. */
const NAMES: Readonly<Record<TargetKind, (value: string) => readonly Name[]>> = {
  host: (text) => [{ list: 'hosts', text }],
  user: (text) => [{ list: 'users', text }],
  sender: (value) => {
    const text = addressOf(value);
    const domain = text.slice(text.lastIndexOf('@') + 1);
    return [
      { list: 'senders', text },
      { list: 'domains', text: domain },
    ];
  },
  domain: (text) => [{ list: 'domains', text }],
  ip: (text) => [{ list: 'ips', text }],
  url: (value) => {
    if (!URL.canParse(value)) return [];
    const text = new URL(value).hostname.replace(/^\[(.*)\]$/, '$1');
    return [{ list: isIP(text) === 0 ? 'domains' : 'ips', text }];
  },
};

/** The one form in which two spellings of the same name meet. */
const CANONICAL: Readonly<Record<keyof ProtectedTargets, (text: string) => string>> = {
  hosts: (text) => text,
  users: (text) => text,
  senders: inAscii,
  domains: inAscii,
  ips: canonicalIp,
};

/**
 * Whether the site protects the target. One with `*` may stand for any number of names at the vendor: it counts as
 * protected wherever the site protects any of its kind.
 */
export function isProtected(
  targets: ProtectedTargets,
  { kind, value }: { readonly kind: TargetKind; readonly value: string },
): boolean {
  return NAMES[kind](value).some(({ list, text }) => {
    const canonical = CANONICAL[list];
    const name = canonical(text);
    const patterns = targets[list] ?? [];
    return patterns.some(
      (pattern) => normal(name).includes('*') || matches(canonical(pattern), name),
    );
  });
}

/** IPv4 in IPv6 is the IPv4 address, and an IPv6 address is written in one way; patterns with `*` stay as they are. */
function canonicalIp(text: string): string {
  const address = readIpAddress(text.trim())?.address;
  if (address?.family !== 'ipv6') return address?.text ?? text;
  return new URL(`http://[${address.text}]`).hostname.slice(1, -1);
}

/** `bücher.example` is `xn--bcher-kva.example` to every machine. */
function inAscii(text: string): string {
  const parts = text.normalize('NFKC').split(/([.@])/);
  return parts
    .map((part) => (/^[^*]*[^\0-\x7f][^*]*$/.test(part) ? domainToASCII(part) || part : part))
    .join('');
}

/** `Bob <bob@example.com>` is the same sender as `bob@example.com`. */
function addressOf(sender: string): string {
  const from = sender.lastIndexOf('<');
  const to = sender.indexOf('>', from);
  return from < 0 || to < 0 ? sender : sender.slice(from + 1, to);
}

/** Compares without regard to case and to space around; linear in the text, whatever the pattern is. */
export function matches(pattern: string, text: string): boolean {
  const wanted = normal(pattern).split('*');
  const value = normal(text);
  const first = wanted[0]!;
  const last = wanted.at(-1)!;
  if (wanted.length === 1) return value === first;
  if (
    !value.startsWith(first) ||
    !value.endsWith(last) ||
    value.length < first.length + last.length
  )
    return false;
  let at = first.length;
  const end = value.length - last.length;
  for (const part of wanted.slice(1, -1)) {
    const found = value.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** A trailing dot is the same domain; compatibility forms are the same letters. */
function normal(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase().replace(/\.$/, '');
}
