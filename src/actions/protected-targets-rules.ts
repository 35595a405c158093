import type { TargetKind } from './action-catalogue.js';

/** Patterns with `*` for any run of characters, per kind of target. */
export interface ProtectedTargets {
  readonly hosts?: readonly string[];
  readonly users?: readonly string[];
  readonly senders?: readonly string[];
  readonly domains?: readonly string[];
  readonly ips?: readonly string[];
}

const LIST_OF: Readonly<Record<TargetKind, keyof ProtectedTargets>> = {
  host: 'hosts',
  user: 'users',
  sender: 'senders',
  domain: 'domains',
  ip: 'ips',
};

/** Whether the site protects the target. A sender is protected by its domain too. */
export function isProtected(
  targets: ProtectedTargets,
  { kind, value }: { readonly kind: TargetKind; readonly value: string },
): boolean {
  const target = kind === 'sender' ? addressOf(value) : value;
  const own = targets[LIST_OF[kind]] ?? [];
  if (own.some((pattern) => matches(pattern, target))) return true;
  const domain = kind === 'sender' ? target.slice(target.lastIndexOf('@') + 1) : undefined;
  return (
    domain !== undefined && (targets.domains ?? []).some((pattern) => matches(pattern, domain))
  );
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
