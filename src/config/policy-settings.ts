import { ACTION_TYPES, type ActionTypeName, isActionType } from '../common/action-types.js';
import type { Parser } from './setting.js';

type Level = 'none' | 'analyst' | 'senior' | 'manager';
const LEVELS: readonly string[] = ['none', 'analyst', 'senior', 'manager'] satisfies Level[];

const TARGETS = ['hosts', 'users', 'senders', 'domains', 'ips'] as const;
export type ProtectedTargetsSetting = Readonly<
  Partial<Record<(typeof TARGETS)[number], readonly string[]>>
>;
export type ApprovalLevelsSetting = Readonly<Partial<Record<ActionTypeName, Level>>>;

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
      if (!TARGETS.some((known) => known === kind)) {
        throw new Error(`must have no other keys than ${TARGETS.join(', ')}`);
      }
      if (!Array.isArray(patterns) || !patterns.every(isPattern)) {
        throw new Error(`must give ${kind} a list of patterns, such as ["dc-*"]`);
      }
    }
    return Object.freeze(given);
  },
};

const isPattern = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

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
