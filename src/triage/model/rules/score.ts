import type { Classification } from '../../../incidents/incident.js';
import { ACCOUNT_RULES } from './account-rules.js';
import { CALMING } from './calming-rules.js';
import { type Doubt, evaluate, type Rule } from './conditions.js';
import type { Fact, Facts } from './facts.js';
import { MACHINE_RULES } from './machine-rules.js';
import { MAIL_RULES } from './mail-rules.js';
import { GUARDED, ROUTINE } from './routine-rules.js';
import { TOOL_RULES } from './tool-rules.js';

export const RULES: readonly Rule[] = [
  ...[TOOL_RULES, MAIL_RULES, MACHINE_RULES, ACCOUNT_RULES, GUARDED, CALMING, ROUTINE].flat(),
];

/** Thresholds of the verdicts, and the confidence in each verdict. Both were measured on the development cases. */
export const SCALE = {
  malicious: 45,
  /** Minimum points of acts from which the severity of the incident counts too. */
  withSeverity: 30,
  /** Points of one plain sign that an analyst should see, such as a changed factor or a locked archive. */
  suspicious: 20,
  /** Minimum points for a benign verdict: of proofs, or of habits minus the points of the tool's rating. */
  benign: 22,
  /** Minimum points of explanations for a benign event, whatever the rating of the tool. */
  explained: 20,
  /** Minimum points by which a single fact about the purpose must exceed the signs, of which at most `suspicious` count. */
  clear: 5,
  confidence: {
    malicious: { least: 0.66, most: 0.92, perPoint: 0.01 },
    /** High if there are only odd circumstances. Low for a sign, because the act may be an attack or harmless. */
    suspicious: { circumstances: 0.55, signs: 0.38 },
    /** `plain`: only one fact shows the purpose. */
    benign: { proven: 0.9, plain: 0.8 },
    /** `nothing`: too little data for a verdict. `calmed`: a fact calms, but an analyst often knows more. */
    inconclusive: { nothing: 0.4, signs: 0.3, calmed: 0.13 },
  },
} as const;

export type Sums = ReturnType<typeof sumsOf>;

/** Thresholds only, so more points never improve a verdict. Benign needs a proof or habits, and no unexplained sign. */
export function classify(sums: Sums): Classification {
  const { left, acts, unexplained, proven, borneOut } = sums;
  const isGraded = acts >= SCALE.withSeverity && borneOut === 0;
  const graded = isGraded ? acts + sums.severity : acts;
  if (graded >= SCALE.malicious && !sums.onlyCircumstances) return 'malicious';
  if (left >= SCALE.suspicious) return 'suspicious';
  if (left === 0 && (borneOut - sums.rating >= SCALE.benign || sums.explained >= SCALE.explained))
    return 'benign';
  return unexplained === 0 && proven >= SCALE.benign ? 'benign' : 'inconclusive';
}

export function confidenceIn(classification: Classification, sums: Sums): number {
  const { malicious, suspicious, benign, inconclusive } = SCALE.confidence;
  switch (classification) {
    case 'malicious': {
      const { least, most, perPoint } = malicious;
      const beyond = Math.max(0, sums.acts - SCALE.malicious);
      return Math.round(Math.min(most, least + perPoint * beyond) * 100) / 100;
    }
    case 'suspicious':
      return sums.onlyCircumstances ? suspicious.circumstances : suspicious.signs;
    case 'benign':
      return sums.proven + sums.purposes > 1 ? benign.proven : benign.plain;
    case 'inconclusive':
      if (sums.calmed + sums.proven >= SCALE.benign) return inconclusive.calmed;
      return sums.withoutSigns ? inconclusive.nothing : inconclusive.signs;
  }
}

export interface Finding {
  readonly rule: Rule;
  readonly facts: readonly Fact[];
}

const MOST_FACTS_OF_A_RULE = 3;
const SEVERITIES = new Set(['tool_says_high', 'tool_says_critical']);

/** Routine rules that count beside explained signs, and beside explained signs that are weak. */
const BESIDE_SIGNS = ['rated_low', 'network_inside'];
const BESIDE_WEAK_SIGNS = [...BESIDE_SIGNS, 'says_enough', 'plain_mail'];

const RULES_OF_A_PIECE = 4;

/** Returns the rules that hold, strongest first. Each rule counts once, so that a repeated word adds no points. */
export function* findingsInPieces(facts: Facts): Generator<void, readonly Finding[]> {
  const found: Finding[] = [];
  for (const [at, rule] of RULES.entries()) {
    if (at % RULES_OF_A_PIECE === 0) yield;
    const places = firstPlaces(evaluate(rule.when, facts));
    if (places.length > 0) found.push({ rule, facts: places });
  }
  return found.sort((one, other) => Math.abs(other.rule.points) - Math.abs(one.rule.points));
}

/** Returns one fact per pointer: a well-known field and its place in the raw data count as one fact. */
function firstPlaces(facts: readonly Fact[]): readonly Fact[] {
  if (facts.length < 2) return facts;
  const places = new Map<string, Fact>();
  for (const fact of facts) {
    if (places.size === MOST_FACTS_OF_A_RULE) break;
    if (!places.has(fact.pointer)) places.set(fact.pointer, fact);
  }
  return [...places.values()];
}

export function sumsOf(findings: readonly Finding[]) {
  const rules = findings.map(({ rule }) => rule);
  const signs = rules.filter(({ points }) => points > 0);
  const calming = rules.filter(({ points }) => points < 0);
  const proofs = calming.filter(({ kind }) => kind === 'proof');
  const others = signs.filter(({ doubt }) => doubt !== 'rating' && doubt !== 'talk');
  const acts = leftOf(others, calming);
  const beside = totalOf(others) <= SCALE.suspicious ? BESIDE_WEAK_SIGNS : BESIDE_SIGNS;
  /** Routine rules count only without signs. If other facts explain all signs, only the rules in BESIDE_SIGNS count. */
  const counts = ({ isRoutine, name }: Rule): boolean =>
    !isRoutine || others.length === 0 || (acts === 0 && beside.includes(name));
  const habits = calming.filter((rule) => rule.kind !== 'proof' && counts(rule));
  /** An intruder in a session has the habits of its owner. They explain an odd place, but not the purpose. */
  const purposes = habits.filter(({ kind }) => kind !== 'who');
  const isClear = -totalOf(purposes) - Math.min(totalOf(others), SCALE.suspicious) >= SCALE.clear;
  const areTelling =
    habits.length > 1 &&
    (purposes.length > 1 || isClear || signs.some(({ doubt }) => doubt === 'place'));
  return {
    left: leftOf(signs, calming),
    /** The tool's rating and words to the reader alone make no event malicious. */
    acts,
    unexplained: leftOf(signs, proofs),
    proven: proofs.length === 0 ? 0 : -totalOf(proofs),
    calmed: -totalOf(habits),
    purposes: purposes.length,
    /** 0 if there is only one habit, or if all habits only show who acted. */
    borneOut: areTelling ? -totalOf(habits) : 0,
    explained: areTelling
      ? -totalOf(habits.filter(({ kind, isRoutine }) => kind === 'habit' && !isRoutine))
      : 0,
    /** Points of the tool's rating, against which all calming facts count. */
    rating: totalOf(signs.filter(({ doubt }) => doubt === 'rating')),
    severity: totalOf(signs.filter(({ name }) => SEVERITIES.has(name))),
    withoutSigns: signs.length === 0,
    onlyCircumstances: signs.every(({ isCircumstance }) => isCircumstance),
  };
}

/** Calming facts lower only the doubts that they explain. If only the tool's rating is left, all of them lower it. */
function leftOf(signs: readonly Rule[], calming: readonly Rule[]): number {
  const sumOf = (doubt: Doubt | undefined) => totalOf(signs.filter((sign) => sign.doubt === doubt));
  const about = (doubt: Doubt) => calming.filter(({ calms }) => calms?.includes(doubt));
  const after = (doubt: Doubt, calm: readonly Rule[] = about(doubt)) =>
    Math.max(0, sumOf(doubt) + totalOf(calm));
  const doubts = new Set(signs.flatMap(({ doubt }) => doubt ?? []));
  doubts.delete('rating');
  const left = [...doubts].reduce((sum, doubt) => sum + after(doubt), sumOf(undefined));
  return left + (left === 0 ? after('rating', calming) : after('rating'));
}

const totalOf = (rules: readonly Rule[]): number =>
  rules.reduce((sum, { points }) => sum + points, 0);
