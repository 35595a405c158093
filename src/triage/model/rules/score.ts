import type { ScoredPoint } from '../triage-model.port.js';
import type { Fact, Facts } from './facts.js';
import type { Rule } from './rule.js';
import { RULES } from './rule-table.js';
import { explained } from './seen-words.js';
import type { Sums } from './scale.js';

/** A rule that holds, with the facts that bear it out. */
export interface Finding {
  readonly rule: Rule;
  readonly facts: readonly Fact[];
}

const MOST_FACTS_OF_A_RULE = 3;

/** Each rule counts once, however often it holds: repeating a word makes nothing worse. Strongest first. */
export function findingsIn(facts: Facts): readonly Finding[] {
  return RULES.map((rule) => ({
    rule,
    facts: rule.look.find(facts).slice(0, MOST_FACTS_OF_A_RULE),
  }))
    .filter(({ facts }) => facts.length > 0)
    .sort((one, other) => Math.abs(other.rule.points) - Math.abs(one.rule.points));
}

export function sumsOf(findings: readonly Finding[]): Sums {
  let against = 0;
  let inFavour = 0;
  for (const { rule } of findings) {
    if (rule.points > 0) against += rule.points;
    else inFavour -= rule.points;
  }
  return { against, inFavour };
}

export function pointsOf(findings: readonly Finding[]): readonly ScoredPoint[] {
  return findings.map(({ rule, facts }) => ({
    rule: rule.name,
    points: rule.points,
    pointer: facts[0]?.pointer,
    explanation: explained(rule, facts),
  }));
}
