import { createSecretKey, type KeyObject } from 'node:crypto';
import { APPROVAL_LEVELS, type ApprovalLevel } from '../access/roles.js';
import {
  ACTION_TYPES,
  type ActionTypeName,
  isActionType,
} from '../../action-catalogue/action-types.js';
import { visible } from '../../action-catalogue/parameters.js';
import {
  patternProblem,
  PROTECTED_LISTS,
  type ProtectedTargetsSetting,
} from '../../action-catalogue/protected-targets.js';
import { shownName } from '../text.js';
import { readIpRange } from '../addresses/ip-address.js';
import { isPrivateHost } from '../addresses/target-rules.js';

export interface Parser<T> {
  readonly read: (text: string) => T;
  /** Value if the variable is unset or empty; `undefined` for an optional variable. */
  readonly fallback: T;
}

function parser<T>(fallback: T, read: (text: string) => T): Parser<T> {
  return { fallback, read };
}

/** @param hint completes the message "must be …" */
export function text<F extends string | undefined>(
  fallback: F,
  pattern = /./,
  hint = 'a text that is not blank',
): Parser<string | F> {
  return parser<string | F>(fallback, (value) => {
    if (pattern.test(value)) return value;
    throw new Error(`must be ${hint}`);
  });
}

export function integer(fallback: number, min: number, max: number): Parser<number> {
  return parser(fallback, (value) => {
    const read = Number(value);
    if (/^-?\d+$/.test(value) && read >= min && read <= max) return read;
    throw new Error(`must be a whole number from ${min} to ${max}`);
  });
}

/** Rejects other words, so that a misspelt word does not count as false. */
export function flag(fallback: boolean): Parser<boolean> {
  return parser(fallback, (value) => {
    const on = { true: true, on: true, false: false, off: false }[value];
    if (on === undefined) throw new Error('must be true, false, on or off');
    return on;
  });
}

export function oneOf<const T extends string, F extends T | undefined = undefined>(
  values: readonly T[],
  fallback?: F,
): Parser<T | F> {
  return parser<T | F>(fallback as F, (value) => {
    const match = values.find((candidate) => candidate === value);
    if (match === undefined) throw new Error(`must be one of ${values.join(', ')}`);
    return match;
  });
}

function list<T>(readPart: (part: string) => T): Parser<readonly T[]> {
  return parser<readonly T[]>([], (value) => {
    const parts = value.split(',').map((part) => part.trim());
    return parts.filter((part) => part !== '').map(readPart);
  });
}

const KEY_BYTES = 32;

/** Parses a key into a KeyObject, which util.inspect and JSON.stringify do not show. The error omits the value. */
export function readSecretKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
    throw new Error(`must be comma-separated base64 keys of ${KEY_BYTES} bytes each`);
  }
  return createSecretKey(bytes);
}

export const secretKeys = list(readSecretKey);

export const networks = list((part) => {
  if (readIpRange(part)) return part;
  throw new Error(`must be a list of addresses or CIDRs, but '${part}' is neither`);
});

type ApprovalLevels = Readonly<Partial<Record<ActionTypeName, ApprovalLevel>>>;

export const approvalLevels = jsonObject<ApprovalLevels>((type, level) => {
  if (!isActionType(type)) {
    throw new Error(
      `must have only action types as keys (${ACTION_TYPES.join(', ')}), but has ${shownName(type)}`,
    );
  }
  if (!APPROVAL_LEVELS.some((known) => known === level)) {
    throw new Error(`must set ${type} to one of ${APPROVAL_LEVELS.join(', ')}`);
  }
});

export const protectedTargets = jsonObject<ProtectedTargetsSetting>((kind, patterns) => {
  const list = PROTECTED_LISTS.find((known) => known === kind);
  if (!list) throw new Error(`must have only the keys ${PROTECTED_LISTS.join(', ')}`);
  if (!Array.isArray(patterns) || patterns.some((pattern) => typeof pattern !== 'string')) {
    throw new Error(`must set ${kind} to a list of patterns, such as ["dc-*"]`);
  }
  for (const pattern of patterns as string[]) {
    // A pattern that can match nothing would protect nothing, and nobody would notice.
    const problem = patternProblem(list, pattern);
    if (problem === undefined) continue;
    const shown = visible(shownName(pattern));
    throw new Error(`has the pattern ${shown} in ${list}, which can match nothing: ${problem}`);
  }
});

function jsonObject<T extends object>(check: (key: string, value: unknown) => void): Parser<T> {
  return parser({} as T, (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Invalid JSON leaves `value` undefined, which the next check rejects.
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error('must be a JSON object');
    }
    for (const [key, item] of Object.entries(value)) check(key, item);
    return Object.freeze(value) as T;
  });
}

export const TRIAGE_PROVIDERS = ['anthropic', 'rules', 'none'] as const;

/** Rejects http for public hosts, because requests contain the key and incidents. */
export function modelAddress(fallback: string): Parser<string> {
  return parser(fallback, (given) => {
    const url = URL.parse(given);
    if (!url || !/^https?:[^@?#\\\s]+$/i.test(given)) {
      throw new Error('must be an https or http address without a user, query or fragment');
    }
    if (url.protocol === 'http:' && !isPrivateHost(url.hostname)) {
      throw new Error('must be an https address; http is allowed only in private networks');
    }
    return given;
  });
}
