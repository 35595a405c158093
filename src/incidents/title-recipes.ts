import { OUTCOME_WORD } from './incident-fields.js';
import {
  ACCOUNT,
  ADDRESS,
  COUNTRY,
  DESTINATION,
  DETECTION,
  FILE,
  HASH,
  HOST,
  OUTCOME,
  RECIPIENT,
  REPLY_TO,
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
  /** The name of the file is enough. */
  readonly isPath?: true;
  /** As in a recipe. */
  readonly isQuoted?: true;
  /** Its first characters are enough. */
  readonly most?: number;
  /** Only a value of this shape is told. */
  readonly shape?: RegExp;
  /** It is told only where nothing was found at these places, which come before it. */
  readonly without?: Spots;
  /** It tells incidents apart that are alike in all else. Where it stands alone, other facts are looked for, too. */
  readonly isBeside?: true;
}

export interface Recipe {
  /** What somebody outside of the house wrote: it is put in quotes, so that it cannot pose as words of ours. */
  readonly quoted?: Spots;
  readonly what: Spots;
  readonly details: readonly Detail[];
}

const from = { before: ' from ', places: SENDER, isMailbox: true } as const;
const to = { before: ' to ', places: RECIPIENT, isMailbox: true } as const;
const replyTo: Detail = {
  before: ' (reply to ',
  places: REPLY_TO,
  after: ')',
  isMailbox: true,
  isBeside: true,
};
const user = { before: ' for ', places: USER };
const mailOfUser = { before: ' for ', places: ACCOUNT, shape: /@/, without: USER };
const userOrAccount = { before: ' for ', places: together(USER, ACCOUNT) };
const host = { before: ' on ', places: HOST };
/** Who failed to log in is another case than who succeeded. */
const outcome: Detail = {
  before: ' (',
  places: OUTCOME,
  after: ')',
  shape: OUTCOME_WORD,
  isBeside: true,
};
const file: Detail = { before: ' in ', places: FILE, isPath: true };
const hash = {
  before: ' (',
  places: HASH,
  after: ')',
  shape: /^[0-9a-f]{32,}$/i,
  most: 12,
  without: HOST,
};
const address = { before: ' from ', places: ADDRESS };
const sourceBeside = { ...address, isBeside: true } as const;
const serverBeside = { before: ' (', places: ADDRESS, after: ')', isBeside: true } as const;
const country = { before: ' (', places: COUNTRY, after: ')' };
const destination = { before: ' to ', places: DESTINATION };

const MAIL: Recipe = { quoted: SUBJECT, what: RULE, details: [from, to] };
const SPAM: Recipe = { ...MAIL, details: [from, to, serverBeside] };
const BEC: Recipe = { ...MAIL, details: [from, replyTo, to] };
const MALWARE: Recipe = {
  what: together(DETECTION, RULE),
  details: [file, host, hash, user, mailOfUser],
};
const LOGIN: Recipe = { what: RULE, details: [outcome, user, mailOfUser, host, address, country] };
const TAKEOVER: Recipe = { what: RULE, details: [outcome, userOrAccount, host, address, country] };
const EXFILTRATION: Recipe = {
  what: RULE,
  details: [file, user, mailOfUser, host, sourceBeside, destination],
};
const POLICY: Recipe = { what: RULE, details: [file, user, mailOfUser, host, sourceBeside] };
const ANY: Recipe = {
  what: together(RULE, DETECTION),
  details: [host, user, mailOfUser, address, destination],
};

/** What tells incidents of any type apart, where nothing is found that their type is usually told by. */
export const OTHERS: readonly Detail[] = [
  { before: ' "', places: SUBJECT, after: '"', isQuoted: true },
  ...[from, to, user, mailOfUser, host, address, file, destination, country],
];
export const MOST_OTHERS = 2;

/** One for each known type but `other`, which has that of unknown types. */
const RECIPES: ReadonlyMap<string, Recipe> = new Map([
  ['phishing', MAIL],
  ['spam', SPAM],
  ['bec', BEC],
  ['malware', MALWARE],
  ['ransomware', MALWARE],
  ['suspicious_login', LOGIN],
  ['brute_force', LOGIN],
  ['account_takeover', TAKEOVER],
  ['data_exfiltration', EXFILTRATION],
  ['policy_violation', POLICY],
]);

export const recipeFor = (incidentType: string): Recipe => RECIPES.get(incidentType) ?? ANY;

/** Behind the words of a tool, which say where it happened, the file comes last: `in a.exe for ada` is no file of hers. */
export const fileLast = ({ details }: Recipe): readonly Detail[] =>
  details.includes(file) ? [...details.filter((detail) => detail !== file), file] : details;
