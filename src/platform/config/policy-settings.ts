import { APPROVAL_LEVELS, type ApprovalLevel } from '../access/roles.js';
import {
  ACTION_TYPES,
  type ActionTypeName,
  isActionType,
} from '../../action-catalogue/action-types.js';
import { visible } from '../../action-catalogue/protected-targets/normal-form.js';
import { patternProblem } from '../../action-catalogue/protected-targets/pattern-problem.js';
import {
  PROTECTED_LISTS,
  type ProtectedList,
  type ProtectedTargetsSetting,
} from '../../action-catalogue/protected-targets/protected-targets.js';
import { shownStart } from '../text.js';
import type { Parser } from './setting.js';

const LEVELS: readonly string[] = APPROVAL_LEVELS;

export type ApprovalLevelsSetting = Readonly<Partial<Record<ActionTypeName, ApprovalLevel>>>;

export const approvalLevels: Parser<ApprovalLevelsSetting> = {
  fallback: {},
  example: '{}',
  read: (text) => {
    const given = jsonObject(text);
    for (const [type, level] of Object.entries(given)) {
      if (!isActionType(type)) {
        throw new Error(`must name action types (${ACTION_TYPES.join(', ')}), and one is none`);
      }
      if (typeof level !== 'string' || !LEVELS.includes(level)) {
        throw new Error(`must give ${type} one of ${LEVELS.join(', ')}`);
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
        throw new Error(`must have no other keys than ${PROTECTED_LISTS.join(', ')}`);
      }
      if (!Array.isArray(patterns) || !patterns.every(isPattern)) {
        throw new Error(`must give ${kind} a list of patterns, such as ["dc-*"]`);
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

/** A pattern that can match nothing protects nothing, and nobody would notice. */
function requireUseful(list: ProtectedList, pattern: string): void {
  const problem = patternProblem(list, pattern);
  if (problem === undefined) return;
  const shown = visible(shownStart(pattern, LONGEST_PATTERN));
  throw new Error(`has under ${list} the pattern ${shown}, which can match nothing: ${problem}`);
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
