import type { ScoredPoint } from '../triage-model.port.js';
import { type Doubt, doubtOf } from './doubts.js';
import type { Facts } from './facts.js';
import type { Fact } from './fact.js';
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
  const found = RULES.map((rule) => ({
    rule,
    facts: firstPlaces(rule.look.find(facts)),
  })).filter((finding) => finding.facts.length > 0);
  const doubts = new Set(found.map(({ rule }) => doubtOf(rule.name)));
  return found
    .filter(({ rule }) => rule.points > 0 || counts(rule, doubts))
    .sort((one, other) => Math.abs(other.rule.points) - Math.abs(one.rule.points));
}

/** A well-known field and its place in the raw data are one fact. */
function firstPlaces(facts: readonly Fact[]): readonly Fact[] {
  const places = new Map<string, Fact>();
  for (const fact of facts) {
    if (places.size === MOST_FACTS_OF_A_RULE) break;
    if (!places.has(fact.pointer)) places.set(fact.pointer, fact);
  }
  return [...places.values()];
}

/** A habit that explains nothing of the event is not told at all: its points would look as if they had counted. */
const counts = ({ calms = [], proof }: Rule, doubts: ReadonlySet<Doubt | undefined>): boolean =>
  proof === true || calms.some((doubt) => doubts.has(doubt));

export function sumsOf(findings: readonly Finding[]): Sums {
  const rules = findings.map(({ rule }) => rule);
  const signs = rules.filter(({ points }) => points > 0);
  const calming = rules.filter(({ points }) => points < 0);
  const proofs = calming.filter(({ proof }) => proof === true);
  return {
    left: leftOf(signs, calming),
    unexplained: leftOf(signs, proofs),
    proven: proofs.length === 0 ? 0 : -totalOf(proofs),
  };
}

/** Each doubt is lowered by what calms it, to nothing at best: what is left over of a calming fact helps no other sign. */
function leftOf(signs: readonly Rule[], calming: readonly Rule[]): number {
  const byDoubt = new Map<Doubt | undefined, number>();
  for (const { name, points } of signs) {
    const doubt = doubtOf(name);
    byDoubt.set(doubt, (byDoubt.get(doubt) ?? 0) + points);
  }
  let left = byDoubt.get(undefined) ?? 0;
  for (const [doubt, points] of byDoubt) {
    if (doubt === undefined) continue;
    const about = calming.filter(({ calms }) => calms?.includes(doubt));
    left += Math.max(0, points + totalOf(about));
  }
  return left;
}

const totalOf = (rules: readonly Rule[]): number =>
  rules.reduce((sum, { points }) => sum + points, 0);

export function pointsOf(findings: readonly Finding[]): readonly ScoredPoint[] {
  return findings.map(({ rule, facts }) => ({
    rule: rule.name,
    points: rule.points,
    pointer: facts.find(({ source }) => source === undefined)?.pointer,
    explanation: explained(rule, facts),
  }));
}
