import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { CLASSIFICATIONS } from '../../incidents/incident.js';
import { storable } from '../../platform/text.js';
import type { ProposedVerdict } from '../model/triage-model.port.js';
import { storedRecords } from '../records/stored-json.js';
import type { RunVerdict } from '../triage-run.js';

/** Of indicators, and of evidence: one list that is long leaves the other its room. */
const ROOM = { characters: 48_000, longestText: 4_000, items: 200, depth: 2 } as const;
const LONGEST_REASONING = 4_000;
const MOST_TECHNIQUES = 200;

const fits = (text: string | undefined, longest: number): boolean =>
  text !== undefined && text.length > 0 && text.length <= longest;

const CATEGORY = /^[a-z][a-z0-9_]{0,63}$/;
const TECHNIQUE = /^T[0-9]{4}(\.[0-9]{3})?$/;
const MOST_ACTIONS = 100;
const KNOWN_ACTIONS: readonly string[] = ACTION_TYPES;

/** A checked verdict in the shape and the bounds that the verdict of an incident has. */
export function runVerdict(checked: ProposedVerdict): RunVerdict {
  const { confidence, category, reasoning, mitreTechniques } = checked;
  const classification = CLASSIFICATIONS.find((known) => known === checked.classification);
  return {
    classification: classification ?? 'inconclusive',
    confidence: Math.min(1, Math.max(0, confidence || 0)),
    category: CATEGORY.test(category) ? category : 'unknown',
    reasoning: storable(reasoning.slice(0, LONGEST_REASONING)),
    indicators: storedRecords(
      checked.indicators
        .filter(({ type, value }) => fits(type, 64) && fits(value, 2_048))
        .map(({ type, value, found_in }) => ({
          type,
          value,
          ...(fits(found_in, 512) && { found_in }),
        })),
      ROOM,
    ),
    mitre_techniques: mitreTechniques.filter((id) => TECHNIQUE.test(id)).slice(0, MOST_TECHNIQUES),
    evidence: storedRecords(
      checked.evidence
        .filter(({ source, pointer }) => fits(source, 128) && pointer.length <= 512)
        .map(({ source, pointer, value }) => ({ source, pointer, value })),
      ROOM,
    ),
  };
}

/** What it recommends: names of action types that there are, and nothing that could be taken for more. */
export function knownActions({ recommendedActions }: ProposedVerdict): string[] {
  const known = recommendedActions.filter((name) => KNOWN_ACTIONS.includes(name));
  return [...new Set(known)].slice(0, MOST_ACTIONS);
}
