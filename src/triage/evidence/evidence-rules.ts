import { type ActionTypeName, isActionType } from '../../action-catalogue/action-types.js';
import type { Classification, Evidence } from '../../incidents/incident.js';
import { resolvePointer } from '../../platform/json-pointer.js';
import { shownStart } from '../../platform/text.js';
import type { ProposedVerdict } from '../model/triage-model.port.js';
import { defang } from '../../incidents/defang.js';
import { indicatorsInSources } from './indicator-check.js';
import { knownTechniques } from './mitre-techniques.js';
import { LONGEST_POINTER } from './raw-values.js';
import { LONGEST_SHOWN, visibleText, withoutHidden } from './visible-text.js';

/** By this name evidence refers to the incident's raw data; everything else that it may refer to is the id of a tool call. */
export const RAW_DATA = 'raw_data';
/** What the incident itself says; everything else is an answer of a tool call. */
const OF_INCIDENT = [RAW_DATA, 'fields'];

/** A verdict of which nothing is taken on trust. */
export interface CheckedVerdict {
  /** Its evidence is where it is said to be, its actions and techniques exist, and its reasoning can be shown to people. */
  readonly verdict: ProposedVerdict;
  /** What was changed and why, for the run. */
  readonly notes: readonly string[];
}

const MOST_EVIDENCE = 50;
const MOST_ACTIONS = 10;
const LONGEST_REASONING = 4_000;
const CATEGORY = /^[a-z][a-z0-9_]{0,63}$/;

/** What the service itself says around an answer of a tool: it is the same for every incident, so it proves nothing. */
const OWN_WORDS =
  /^\/(?:error|answered|simulated|connector)$|^(?!\/data\/).*\/(?:said_by|pointers?)(?:\/|$)/;

const NO_EVIDENCE = "The model's evidence could not be found in the data.";

/**
 * What remains of a model's verdict after everything that can be checked was checked. `sources` are what the model was shown:
 * the raw data under `raw_data`, the well-known fields under `fields`, and the answer of each tool call under its id.
 */
export function checkedEvidence(
  verdict: ProposedVerdict,
  sources: ReadonlyMap<string, unknown>,
): CheckedVerdict {
  const evidence = foundEvidence(verdict.evidence, sources);
  const isUnproven = needsEvidence(verdict.classification) && evidence.length === 0;
  const lost = verdict.evidence.length - evidence.length;
  const notes = isUnproven ? [NO_EVIDENCE] : lost > 0 ? [lostNote(lost)] : [];
  return {
    verdict: {
      classification: isUnproven ? 'inconclusive' : verdict.classification,
      // How sure a model is of a verdict says nothing about another one.
      confidence: isUnproven ? 0 : clamped(verdict.confidence),
      category: CATEGORY.test(verdict.category) ? verdict.category : 'unknown',
      reasoning: readableReasoning(verdict.reasoning),
      indicators: indicatorsInSources(verdict.indicators, sources),
      mitreTechniques: knownTechniques(verdict.mitreTechniques),
      evidence,
      recommendedActions: isUnproven ? [] : knownActions(verdict.recommendedActions),
    },
    notes,
  };
}

function needsEvidence(classification: Classification): boolean {
  return classification === 'malicious' || classification === 'benign';
}

function lostNote(lost: number): string {
  return lost === 1
    ? 'One piece of evidence was left out: it is not in the data, or was given twice.'
    : `${lost} pieces of evidence were left out: they are not in the data, or were given twice.`;
}

function foundEvidence(
  evidence: readonly Evidence[],
  sources: ReadonlyMap<string, unknown>,
): Evidence[] {
  const found = new Map<string, Evidence>();
  for (const { source, pointer, value } of evidence.slice(0, MOST_EVIDENCE)) {
    if (!sources.has(source) || !isStorablePointer(pointer)) continue;
    if (!OF_INCIDENT.includes(source) && OWN_WORDS.test(pointer)) continue;
    const real = resolvePointer(sources.get(source), pointer);
    if (isScalar(real) && isSameValue(real, value)) {
      found.set(`${source} ${pointer}`, { source, pointer, value: storedValue(real) });
    }
  }
  return [...found.values()];
}

/** PostgreSQL stores no NUL and no half of a pair; a pointer without them would lead elsewhere. */
function isStorablePointer(pointer: string): boolean {
  return pointer.length <= LONGEST_POINTER && !pointer.includes('\0') && pointer.isWellFormed();
}

function isScalar(value: unknown): value is Evidence['value'] {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/**
 * Exactly, except for space around it. A model may write a number as text, and it was shown hidden characters as marks, so
 * that it can only quote the marks; it has not seen the whole of a longer text. A text in which nobody
 * sees anything proves nothing.
 */
function isSameValue(real: Evidence['value'], quoted: Evidence['value']): boolean {
  const plain = String(real);
  const said = String(quoted).trim();
  if (withoutHidden(plain).trim() === '') return false;
  if (plain.trim() === said) return true;
  return plain.length <= LONGEST_SHOWN && visibleText(plain).trim() === said;
}

/** The service writes its own data, not the model's. The beginning of a very long text will do: the raw data has all of it. */
function storedValue(real: Evidence['value']): Evidence['value'] {
  return typeof real === 'string' ? shownStart(real.trim(), LONGEST_SHOWN) : real;
}

function clamped(confidence: number): number {
  return Number.isFinite(confidence) ? Math.min(1, Math.max(0, confidence)) : 0;
}

/** Cut before and after: a model may write without end, and what keeps links from being followed makes a text longer. */
function readableReasoning(text: string): string {
  const begun = text.slice(0, 4 * LONGEST_REASONING);
  return shownStart(defang(withoutHidden(begun)).trim(), LONGEST_REASONING);
}

function knownActions(names: readonly string[]): ActionTypeName[] {
  return [...new Set(names.filter(isActionType))].slice(0, MOST_ACTIONS);
}
