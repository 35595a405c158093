import { atOnce } from '../../../platform/concurrency/semaphore.js';
import type { ScoredPoint } from '../triage-model.port.js';
import { CIRCUMSTANCES, type Doubt, doubtOf } from './doubts.js';
import type { Fact } from './fact.js';
import type { Facts } from './facts.js';
import type { HabitKind, Rule } from './rule.js';
import { RULES } from './rule-table.js';
import { explained } from './seen-words.js';
import type { Sums } from './scale.js';

/** A rule that holds, with the facts that bear it out. */
export interface Finding {
  readonly rule: Rule;
  readonly facts: readonly Fact[];
}

const MOST_FACTS_OF_A_RULE = 3;

const RULES_OF_A_PIECE = 4;

/** Each rule counts once, however often it holds: repeating a word makes nothing worse. Strongest first. */
export function* findingsInPieces(facts: Facts): Generator<void, readonly Finding[]> {
  const found: Finding[] = [];
  for (const [at, rule] of RULES.entries()) {
    if (at % RULES_OF_A_PIECE === 0) yield;
    const places = firstPlaces(rule.look.find(facts));
    if (places.length > 0) found.push({ rule, facts: places });
  }
  return found.sort((one, other) => Math.abs(other.rule.points) - Math.abs(one.rule.points));
}

export const findingsIn = (facts: Facts): readonly Finding[] => atOnce(findingsInPieces(facts));

/** A well-known field and its place in the raw data are one fact. */
function firstPlaces(facts: readonly Fact[]): readonly Fact[] {
  if (facts.length < 2) return facts;
  const places = new Map<string, Fact>();
  for (const fact of facts) {
    if (places.size === MOST_FACTS_OF_A_RULE) break;
    if (!places.has(fact.pointer)) places.set(fact.pointer, fact);
  }
  return [...places.values()];
}

export function sumsOf(findings: readonly Finding[]): Sums {
  const rules = findings.map(({ rule }) => rule);
  const signs = rules.filter(({ points }) => points > 0);
  const calming = rules.filter(({ points }) => points < 0);
  const proofs = calming.filter(({ proof }) => proof === true);
  const habits = independent(findings.filter(({ rule }) => rule.points < 0 && !rule.proof));
  return {
    left: leftOf(signs, calming),
    unexplained: leftOf(signs, proofs),
    proven: proofs.length === 0 ? 0 : -totalOf(proofs),
    borneOut: habits.length === 0 ? 0 : -totalOf(habits),
    kinds: kindsOf(signs, habits),
    withoutSigns: signs.length === 0,
    onlyCircumstances: signs.every(({ name }) => CIRCUMSTANCES.has(name)),
  };
}

/** Habits that bear each other out: a note in words counts once, and not where it is a record of its own already. */
function independent(findings: readonly Finding[]): readonly Rule[] {
  const isNote = ({ facts }: Finding) => facts.every(({ remark }) => remark);
  const counted = new Set<string>();
  const ordered = [...findings.filter((one) => !isNote(one)), ...findings.filter(isNote)];
  return ordered.flatMap((finding) => {
    const isNew = !isNote(finding) || finding.facts.some(({ pointer }) => !counted.has(pointer));
    for (const { pointer } of finding.facts) counted.add(pointer);
    return isNew ? [finding.rule] : [];
  });
}

/** Somebody decided or planned it, or what the company has on record explains it. */
const DECIDING: readonly HabitKind[] = [
  'decided',
  'recorded',
  'confirmed',
  'planned',
  'role',
  'match',
  'inside',
  'bulk',
];

/**
 * Of how many kinds the habits are. Habits of senders, devices and places say nothing about what is wanted or done: whoever took over a mailbox or a session has them
 * as well. They count only for an event whose signs they explain, or beside a decision on record.
 */
function kindsOf(signs: readonly Rule[], habits: readonly Rule[]): number {
  const kinds = new Set(habits.flatMap(({ kind }) => kind ?? []));
  // That a mail was found clean says nothing about what it asks for.
  const isDecided =
    DECIDING.some((kind) => kinds.has(kind)) ||
    (signs.length === 0 && kinds.has('clean') && kinds.has('signed'));
  const isExplained = signs.some(({ name }) => doubtOf(name) !== undefined) && !kinds.has('who');
  return isDecided || isExplained ? kinds.size : 0;
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
