import {
  ADDRESS,
  COUNTRY,
  DESTINATION,
  DETECTION,
  FILE,
  HOST,
  RECIPIENT,
  RULE,
  SENDER,
  SUBJECT,
  USER,
} from './title-keys.js';
import { type Spots, together } from './title-values.js';

/** To whom, or where, it happened, with the words around it. */
export interface Detail {
  readonly before: string;
  readonly places: Spots;
  readonly after?: string;
  readonly isMailbox?: true;
  /** As in a recipe. */
  readonly isQuoted?: true;
}

export interface Recipe {
  /** What somebody outside of the house wrote: it is put in quotes, so that it cannot pose as words of ours. */
  readonly quoted?: Spots;
  readonly what: Spots;
  readonly details: readonly Detail[];
}

const from = { before: ' from ', places: SENDER, isMailbox: true } as const;
const to = { before: ' to ', places: RECIPIENT, isMailbox: true } as const;
const user = { before: ' for ', places: USER };
const host = { before: ' on ', places: HOST };
const file = { before: ' in ', places: FILE };
const address = { before: ' from ', places: ADDRESS };
const country = { before: ' (', places: COUNTRY, after: ')' };
const destination = { before: ' to ', places: DESTINATION };

const MAIL: Recipe = { quoted: SUBJECT, what: RULE, details: [from, to] };
const MALWARE: Recipe = { what: together(DETECTION, RULE), details: [file, host, user] };
const LOGIN: Recipe = { what: RULE, details: [user, host, address, country] };
const EXFILTRATION: Recipe = { what: RULE, details: [file, user, host, destination] };
const POLICY: Recipe = { what: RULE, details: [file, user, host] };
const ANY: Recipe = {
  what: together(RULE, DETECTION),
  details: [host, user, address, destination],
};

/** What tells incidents of any type apart, where nothing is found that their type is usually told by. */
export const OTHERS: readonly Detail[] = [
  { before: ' "', places: SUBJECT, after: '"', isQuoted: true },
  ...[from, to, user, host, address, file, destination, country],
];
export const MOST_OTHERS = 2;

/** One for each known type but `other`, which has that of unknown types. */
const RECIPES: ReadonlyMap<string, Recipe> = new Map([
  ['phishing', MAIL],
  ['spam', MAIL],
  ['bec', MAIL],
  ['malware', MALWARE],
  ['ransomware', MALWARE],
  ['suspicious_login', LOGIN],
  ['account_takeover', LOGIN],
  ['data_exfiltration', EXFILTRATION],
  ['policy_violation', POLICY],
]);

export const recipeFor = (incidentType: string): Recipe => RECIPES.get(incidentType) ?? ANY;
