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
  type ProtectedList,
  type ProtectedTargetsSetting,
} from '../../action-catalogue/protected-targets.js';
import { shownStart } from '../text.js';
import { list, type Parser, readSecretKey } from './setting.js';
import { readIpRange } from '../addresses/ip-address.js';
import { isPrivateHost } from '../addresses/target-rules.js';

const LEVELS: readonly string[] = APPROVAL_LEVELS;

export type ApprovalLevelsSetting = Readonly<Partial<Record<ActionTypeName, ApprovalLevel>>>;

export const approvalLevels: Parser<ApprovalLevelsSetting> = {
  fallback: {},
  example: '{}',
  read: (text) => {
    const given = jsonObject(text);
    for (const [type, level] of Object.entries(given)) {
      if (!isActionType(type)) {
        throw new Error(
          `must have only action types as keys (${ACTION_TYPES.join(', ')}), but has ${shownStart(type, 100)}`,
        );
      }
      if (typeof level !== 'string' || !LEVELS.includes(level)) {
        throw new Error(`must set ${type} to one of ${LEVELS.join(', ')}`);
      }
    }
    return Object.freeze(given);
  },
};

export const protectedTargets: Parser<ProtectedTargetsSetting> = {
  fallback: {},
  example: '{}',
  read: (text) => {
    const given = jsonObject(text);
    for (const [kind, patterns] of Object.entries(given)) {
      if (!isProtectedList(kind)) {
        throw new Error(`must have only the keys ${PROTECTED_LISTS.join(', ')}`);
      }
      if (!Array.isArray(patterns) || !patterns.every(isPattern)) {
        throw new Error(`must set ${kind} to a list of patterns, such as ["dc-*"]`);
      }
      for (const pattern of patterns) requireUseful(kind, pattern);
    }
    return Object.freeze(given);
  },
};

const LONGEST_PATTERN = 200;

const isProtectedList = (word: string): word is ProtectedList =>
  PROTECTED_LISTS.some((known) => known === word);

const isPattern = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/** Rejects a pattern that can match nothing: the pattern would protect nothing, and nobody would notice. */
function requireUseful(list: ProtectedList, pattern: string): void {
  const problem = patternProblem(list, pattern);
  if (problem === undefined) return;
  const shown = visible(shownStart(pattern, LONGEST_PATTERN));
  throw new Error(`has the pattern ${shown} in ${list}, which can match nothing: ${problem}`);
}

function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('must be JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('must be a JSON object');
  }
  return value as Record<string, unknown>;
}

export const TRIAGE_PROVIDERS = ['anthropic', 'rules', 'none'] as const;
export type TriageProvider = (typeof TRIAGE_PROVIDERS)[number];

/** Returns the configured provider. Default: `anthropic` with an API key, else `rules` in a trial, else `none`. */
export function chosenProvider(settings: {
  readonly triageProvider: TriageProvider | undefined;
  readonly anthropicApiKey: string | undefined;
  readonly databaseUrl: string | undefined;
}): TriageProvider {
  if (settings.triageProvider) return settings.triageProvider;
  if (settings.anthropicApiKey !== undefined) return 'anthropic';
  return settings.databaseUrl === undefined ? 'rules' : 'none';
}

/** The service appends a path. Requests contain the key and incidents, so http is rejected for public hosts. */
export const modelAddress = (fallback: string): Parser<string> => ({
  fallback,
  example: fallback,
  read: (given) => {
    const url = URL.parse(given);
    if (!url || !/^https?:$/.test(url.protocol) || /[@?#\\\s]/.test(given)) {
      throw new Error('must be an https or http address without a user, query or fragment');
    }
    if (url.protocol === 'http:' && !isPrivateHost(url.hostname)) {
      throw new Error('must be an https address; http is allowed only in private networks');
    }
    return given;
  },
});

export function share(fallback: number): Parser<number> {
  return {
    fallback,
    example: String(fallback),
    read: (given) => {
      const number = Number(given);
      if (!/^[01]?(\.\d+)?$/.test(given) || number < 0 || number > 1) {
        throw new Error('must be a number from 0 to 1');
      }
      return number;
    },
  };
}

export const networks = list((part) => {
  if (readIpRange(part)) return part;
  throw new Error(`must be a list of addresses or CIDRs, but '${part}' is neither`);
});

export const secretKeys = list(readSecretKey);
