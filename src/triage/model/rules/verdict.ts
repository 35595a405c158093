import type { Classification, Evidence, Indicator } from '../../../incidents/incident.js';
import type { ExtractedIndicator } from '../../evidence/indicator.js';
import type { ProposedVerdict } from '../triage-model.port.js';
import { actionsFor, type Target } from './recommended-actions.js';
import { classify, confidenceIn, SCALE } from './scale.js';
import { type Finding, sumsOf } from './score.js';
import { explained } from './seen-words.js';

const MOST_EVIDENCE = 12;
const MOST_REASONS = 5;

/** What the findings make of an event, in the words of the rules: of the event's own text only what they went by is repeated. */
export function verdictOn(
  findings: readonly Finding[],
  indicators: readonly ExtractedIndicator[],
  targets: ReadonlySet<Target>,
): ProposedVerdict {
  const sums = sumsOf(findings);
  const classification = classify(sums);
  const category = categoryOf(classification, findings);
  const telling = findings.filter(({ rule }) => rule.points < 0 === (classification === 'benign'));
  return {
    classification,
    confidence: confidenceIn(classification, sums),
    category,
    reasoning: reasoningOf(classification, sums.left, findings),
    indicators: indicators.map(indicatorOf),
    mitreTechniques: classification === 'benign' ? [] : techniquesOf(category, telling),
    evidence: evidenceOf(telling),
    recommendedActions: actionsFor(classification, category, targets),
  };
}

/** The category with the most points behind it; of equal ones that of the strongest rule. */
function categoryOf(classification: Classification, findings: readonly Finding[]): string {
  if (classification === 'benign') return 'legitimate';
  if (classification === 'inconclusive') return 'unknown';
  const points = new Map<string, number>();
  for (const { rule } of findings) {
    if (rule.points <= 0 || rule.category === undefined) continue;
    points.set(rule.category, (points.get(rule.category) ?? 0) + rule.points);
  }
  const most = Math.max(...points.values());
  return [...points].find(([, sum]) => sum === most)?.[0] ?? 'unknown';
}

function reasoningOf(
  classification: Classification,
  left: number,
  findings: readonly Finding[],
): string {
  const sentences = (against: boolean) =>
    findings
      .filter(({ rule }) => rule.points > 0 === against)
      .slice(0, MOST_REASONS)
      .map(
        ({ rule, facts }) =>
          `${explained(rule, facts)} (${rule.points > 0 ? '+' : ''}${rule.points})`,
      );
  const against = sentences(true);
  const inFavour = sentences(false);
  return [
    `${MEANING[classification]} The rules give ${left} points; from ${SCALE.malicious} on an event is malicious, from ${SCALE.suspicious} on suspicious.`,
    against.length > 0 ? `Against it: ${against.join(' ')}` : 'No rule speaks against it.',
    ...(inFavour.length > 0 ? [`What calms: ${inFavour.join(' ')}`] : []),
  ].join(' ');
}

const MEANING: Readonly<Record<Classification, string>> = {
  malicious: 'The event looks like an attack.',
  suspicious: 'The event has signs of an attack, and a person should look at it.',
  benign: 'What the tools themselves say explains the event.',
  inconclusive: 'The event says too little to judge it by rules.',
};

function evidenceOf(findings: readonly Finding[]): Evidence[] {
  const byPlace = new Map<string, Evidence>();
  for (const { source = 'raw_data', pointer, value } of findings.flatMap(({ facts }) => facts)) {
    if (byPlace.size < MOST_EVIDENCE) byPlace.set(source + pointer, { source, pointer, value });
  }
  return [...byPlace.values()];
}

function techniquesOf(category: string, findings: readonly Finding[]): string[] {
  const ofCategory = findings.filter(({ rule }) => rule.category === category);
  return [...new Set(ofCategory.flatMap(({ rule }) => rule.mitre ?? []))];
}

const indicatorOf = ({ type, value, pointers }: ExtractedIndicator): Indicator => ({
  type,
  value,
  found_in: pointers[0],
});
