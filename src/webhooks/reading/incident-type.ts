import { KNOWN_INCIDENT_TYPES } from '../../incidents/incident.js';
import type { ReadingRules } from '../sources/webhook-source.js';
import type { Alert } from './alert.js';

export type KnownIncidentType = (typeof KNOWN_INCIDENT_TYPES)[number];

/** From words of a vendor, written as normalWord writes them, to incident types. */
export type Translations = ReadonlyMap<string, KnownIncidentType>;

const LONGEST_WORD = 100;

const KNOWN: Translations = new Map(KNOWN_INCIDENT_TYPES.map((type) => [normalWord(type), type]));

/** The known type that the word stands for. Case, spaces, hyphens and underscores do not matter. */
export function knownType(
  word: string | undefined,
  translations?: Translations,
): KnownIncidentType | undefined {
  // Nothing is looked for in what is too long to be a word.
  if (word === undefined || word.length > LONGEST_WORD) return undefined;
  const normal = normalWord(word);
  return KNOWN.get(normal) ?? translations?.get(normal);
}

/** The type of the incident: the event's word when it is known, else what the source says, else what is usual. */
export function typeOf(
  alert: Pick<Alert, 'type' | 'usualType'>,
  rules: Pick<ReadingRules, 'incidentType'>,
): string {
  return knownType(alert.type) ?? rules.incidentType ?? alert.usualType;
}

function normalWord(word: string): string {
  return word.toLowerCase().replace(/[\s_-]/g, '');
}
