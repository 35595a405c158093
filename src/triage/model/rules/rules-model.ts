import { createHash } from 'node:crypto';
import type { Classification, Evidence } from '../../../incidents/incident.js';
import { storable } from '../../../platform/text.js';
import { LoopTurns } from '../../../platform/concurrency/semaphore.js';
import { OWN_PLACES } from '../../evidence/own-places.js';
import {
  type Judgement,
  type ProposedVerdict,
  type TriageCase,
  TriageModel,
} from '../triage-model.port.js';
import { explained, questionsOn, reasoningOf } from './explain.js';
import { DENIALS, EXPLANATIONS, RECORDS } from './explanations.js';
import { Facts } from './facts.js';
import { actionsFor, CATEGORIES, lookUpsFor, missingIn } from './next-steps.js';
import {
  classify,
  confidenceIn,
  type Finding,
  findingsInPieces,
  RULES,
  SCALE,
  sumsOf,
} from './score.js';
import { SIGN_PHRASES } from './signs.js';

/** SHA-256 in hex of everything that affects a verdict: rules, phrases, thresholds and lists of places. */
export const RULES_HASH = createHash('sha256')
  .update(
    JSON.stringify(
      [SCALE, SIGN_PHRASES, EXPLANATIONS, RECORDS, DENIALS, OWN_PLACES, RULES],
      (_, value: unknown) =>
        value instanceof RegExp || typeof value === 'function' ? String(value) : value,
    ),
  )
  .digest('hex');

/** Scores events by rules, without a model. Sends no requests, and always gives the same verdict on the same event. */
export class RulesModel extends TriageModel {
  readonly provider = 'rules';
  readonly configuredModel = 'rules';
  readonly asksOutside = false;
  private readonly turns = new LoopTurns();

  async judge(given: TriageCase): Promise<Judgement> {
    const facts = await this.turns.runInPieces(Facts.inPieces(given.rawData, given));
    const findings = await this.turns.runInPieces(findingsInPieces(facts));
    return {
      verdict: verdictOn(findings, facts, given),
      model: this.configuredModel,
      prompt_hash: RULES_HASH,
      tool_calls: [],
      points: findings.map(({ rule, facts: found }) => ({
        rule: rule.name,
        points: rule.points,
        pointer:
          storable(found.find(({ source }) => source === undefined)?.pointer ?? '') || undefined,
        explanation: explained(rule, found),
      })),
    };
  }
}

const MOST_EVIDENCE = 12;

function verdictOn(
  findings: readonly Finding[],
  facts: Facts,
  { incident_type: incidentType, indicators }: Pick<TriageCase, 'incident_type' | 'indicators'>,
): ProposedVerdict {
  const sums = sumsOf(findings);
  const classification = classify(sums);
  const category = categoryOf(classification, findings, facts, incidentType);
  const isOpen = classification === 'inconclusive';
  const lookUps = isOpen ? lookUpsFor(facts, incidentType, indicators) : [];
  const missing = isOpen ? missingIn(facts, incidentType, indicators) : [];
  const questions = isOpen ? questionsOn(facts, missing, lookUps) : [];
  const telling = findings.filter(({ rule }) => rule.points < 0 === (classification === 'benign'));
  return {
    classification,
    confidence: confidenceIn(classification, sums),
    category,
    reasoning: reasoningOf(classification, category, findings, facts, questions),
    indicators: indicators.map(({ type, value, pointers: [found_in] }) => ({
      type,
      value,
      found_in,
    })),
    mitre_techniques: techniquesOf(category, telling),
    evidence: evidenceOf(telling),
    recommended_actions: actionsFor(classification, category, facts, indicators, lookUps),
  };
}

/** Returns the category with the most points. If several have the same points, the strongest rule decides. */
function categoryOf(
  classification: Classification,
  findings: readonly Finding[],
  facts: Facts,
  incidentType: string,
): string {
  if (classification === 'benign') return 'legitimate';
  if (classification === 'inconclusive') return 'unknown';
  const points = new Map<string, number>();
  for (const { rule } of findings) {
    if (rule.points <= 0 || rule.category === undefined) continue;
    points.set(rule.category, (points.get(rule.category) ?? 0) + rule.points);
  }
  const [strongest] = [...points].sort(([, one], [, other]) => other - one)[0] ?? [];
  if (strongest === undefined) {
    const category = incidentType === 'suspicious_login' ? 'account_takeover' : incidentType;
    return Object.hasOwn(CATEGORIES, category) ? category : 'unknown';
  }
  if (strongest === 'malware' && isOfAccount(facts, incidentType)) return 'account_takeover';
  // If a sign-in came through a phishing page, the account was taken over.
  return strongest === 'phishing' && isSignIn(facts) ? 'account_takeover' : strongest;
}

/** True if the event names no machine, program or file. Such an event is about an account and not about malware. */
const isOfAccount = ({ fields }: Facts, incidentType: string): boolean =>
  /account|login|brute_force/.test(incidentType) &&
  [fields.host, fields.process, fields.file, fields.hash].every((value) => value === undefined);

const isSignIn = (facts: Facts): boolean =>
  !facts.isMail && facts.named('factor', 'mfa', 'authenticationrequirement').length > 0;

function evidenceOf(findings: readonly Finding[]): Evidence[] {
  const byPlace = new Map<string, Evidence>();
  for (const { source = 'raw_data', pointer, value } of findings.flatMap(({ facts }) => facts)) {
    if (byPlace.size < MOST_EVIDENCE && source !== 'incident')
      byPlace.set(source + pointer, { source, pointer, value });
  }
  return [...byPlace.values()];
}

function techniquesOf(category: string, findings: readonly Finding[]): string[] {
  const ofCategory = findings.filter(({ rule }) => rule.category === category);
  return [...new Set(ofCategory.flatMap(({ rule }) => rule.mitre))];
}
