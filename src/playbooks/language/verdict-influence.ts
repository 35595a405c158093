import type { PlaybookStep } from './playbook-definition.js';
import { readsVerdict } from './check-playbook.js';
import { stepsReadBy } from './steps-read.js';

/**
 * The names of the steps that a verdict decides about: their condition reads it, or they read what such a step came to.
 * That a step was skipped tells of the verdict, too.
 */
export function decidedByVerdict(steps: readonly PlaybookStep[]): ReadonlySet<string> {
  const decided = new Set<string>();
  for (const step of steps) {
    const own = step.condition !== undefined && readsVerdict(step.condition);
    if (own || readsOneOf(step, decided)) decided.add(step.name);
  }
  return decided;
}

function readsOneOf(step: PlaybookStep, decided: ReadonlySet<string>): boolean {
  if (decided.size === 0) return false;
  const read = stepsReadBy(step);
  return read === 'any' || [...read].some((name) => decided.has(name));
}
