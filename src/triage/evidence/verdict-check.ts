import { isActionType } from '../../action-catalogue/action-types.js';
import { defang, refang } from '../../incidents/defang.js';
import type { Evidence, Indicator } from '../../incidents/incident.js';
import { resolvePointer } from '../../platform/json-pointer.js';
import { shownStart, storable } from '../../platform/text.js';
import type { ProposedVerdict, RunVerdict } from '../model/triage-model.port.js';
import { isScalar, LONGEST_POINTER, rawTexts } from './raw-values.js';
import { LONGEST_SHOWN, visibleText, withoutHidden } from './visible-text.js';

/** Data that the model saw: `raw_data` and `fields` of the incident, and each tool response by the id of its call. */
export type Sources = ReadonlyMap<string, unknown>;

const MOST_ITEMS = 50;
const MOST_ACTIONS = 10;
const TECHNIQUE = /^T\d{4}(?:\.\d{3})?$/;
const LONGEST_REASONING = 4_000;
const CATEGORY = /^[a-z][a-z0-9_]{0,63}$/;
const MOST_BYTES = 64 * 1024;

/** Keeps only evidence and indicators from the sources, existing actions and technique ids. Limits the size. */
export function checkedVerdict(proposed: ProposedVerdict, sources: Sources) {
  const { classification, confidence, category } = proposed;
  const evidence = foundEvidence(proposed.evidence, sources);
  const lost = proposed.evidence.length - evidence.length;
  const verdict: RunVerdict = {
    ...{ classification, confidence: Math.min(1, Math.max(0, confidence)) },
    category: CATEGORY.test(category) ? category : 'unknown',
    reasoning: readable(proposed.reasoning),
    indicators: upTo(MOST_BYTES, foundIndicators(proposed.indicators, sources)),
    mitre_techniques: distinct(proposed.mitre_techniques.filter((id) => TECHNIQUE.test(id))),
    evidence: upTo(MOST_BYTES, evidence),
  };
  if (evidence.length === 0 && (classification === 'malicious' || classification === 'benign')) {
    return {
      verdict: { ...verdict, classification: 'inconclusive' as const, confidence: 0 },
      recommended_actions: [],
      notes: ["The model's evidence could not be found in the data."],
    };
  }
  const actions = distinct(proposed.recommended_actions.filter(isActionType));
  const note = `Evidence that was left out: ${lost}. It is not in the data, or was given twice.`;
  return {
    verdict,
    recommended_actions: actions.slice(0, MOST_ACTIONS),
    notes: lost > 0 ? [note] : [],
  };
}

/** Fields that the service adds to each tool response. They are equal for all incidents, so they are no evidence. */
const OWN_WORDS = /^\/(?:error|answered|connector)$/;

function foundEvidence(evidence: readonly Evidence[], sources: Sources): Evidence[] {
  const found = new Map<string, Evidence>();
  for (const { source, pointer, value } of evidence.slice(0, MOST_ITEMS)) {
    // PostgreSQL does not store NUL or half a surrogate pair. Without them, the pointer would lead to another value.
    if (pointer.length > LONGEST_POINTER || pointer !== storable(pointer)) continue;
    const isOfIncident = source === 'raw_data' || source === 'fields';
    if (!isOfIncident && OWN_WORDS.test(pointer)) continue;
    const real = resolvePointer(sources.get(source), pointer);
    if (!isScalar(real) || !isQuoteOf(real, value)) continue;
    const stored = typeof real === 'string' ? shownStart(real.trim(), LONGEST_SHOWN) : real;
    found.set(`${source} ${pointer}`, { source, pointer, value: stored });
  }
  return [...found.values()];
}

/** True for an exact quote, also with marks for hidden characters. A text without visible characters never counts. */
function isQuoteOf(real: Evidence['value'], quoted: Evidence['value']): boolean {
  const plain = String(real);
  const said = String(quoted).trim();
  if (withoutHidden(plain).trim() === '') return false;
  if (plain.trim() === said) return true;
  return plain.length <= LONGEST_SHOWN && visibleText(plain).trim() === said;
}

/** Cuts before defanging, because a model may write endless text, and after it, because defanging adds characters. */
function readable(reasoning: string): string {
  const start = reasoning.slice(0, 4 * LONGEST_REASONING);
  return shownStart(defang(withoutHidden(start)).trim(), LONGEST_REASONING);
}

const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)].slice(0, MOST_ITEMS);

const SHORTEST_VALUE = 3;
const LONGEST_VALUE = 2_048;
/** Maximum length of a value that is searched within words. The time may grow with text length × value length. */
const LONGEST_SEARCHED = 200;
const MOST_CHARACTERS = 128 * 1024;

/** Keeps indicators from texts that the model saw. Ignores case and defanging. `found_in` points into raw data. */
function foundIndicators(indicators: readonly Indicator[], sources: Sources): Indicator[] {
  if (indicators.length === 0) return [];
  const texts = searchedTexts(sources);
  const kept = new Map<string, Indicator>();
  for (const { type, value: given } of indicators.slice(0, MOST_ITEMS)) {
    const value = refang(given).trim();
    const searched = value.toLowerCase();
    const key = `${type} ${searched}`;
    const { length } = value;
    if (kept.has(key) || length < SHORTEST_VALUE || length > LONGEST_VALUE) continue;
    // A long value, such as a URL, must be a whole word of the text.
    const place = texts.find(({ text }) =>
      (length > LONGEST_SEARCHED ? text.split(/[\s"'<>()]+/) : text).includes(searched),
    );
    if (!place || value !== storable(value)) continue;
    kept.set(key, { type, value, ...(place.found_in && { found_in: place.found_in }) });
  }
  return [...kept.values()];
}

function searchedTexts(sources: Sources) {
  let left = MOST_CHARACTERS;
  return [...sources].flatMap(([source, root]) =>
    rawTexts(root).flatMap(({ pointer, value }) => {
      if (left <= 0) return [];
      const shown = value.slice(0, LONGEST_SHOWN);
      left -= shown.length;
      const found_in = source === 'raw_data' && pointer !== '' && storable(pointer);
      return [{ text: refang(shown).toLowerCase(), found_in }];
    }),
  );
}

export function upTo<T>(bytes: number, items: readonly T[]): T[] {
  let left = bytes;
  const end = items.findIndex((one) => (left -= Buffer.byteLength(JSON.stringify(one))) < 0);
  return items.slice(0, end < 0 ? undefined : end);
}
