import { addressList, type IncidentFieldName } from '../../incidents/incident-fields.js';
import type { Severity } from '../../incidents/incident.js';
import type { PHISHING_KEYS } from '../../incidents/raw-data-rules.js';
import { inQuotes } from '../../incidents/titles.js';
import { shownStart } from '../../platform/text.js';
import { isIso8601 } from '../../platform/validation/fields.js';
import { isList, isObject, type Json, member, numberOf, textOf } from './json.js';
import type { SaidSeverity } from './words.js';

/* Names of members are separated by spaces. A dot leads to a member of a member; of a list on the way, the first item counts. */

/** The member if it is a string. Identifies a format. */
export function wordIn(value: Json | undefined, name: string): string | undefined {
  const word = member(value, name);
  return typeof word === 'string' ? textOf(word) : undefined;
}

/** Of a list, the first item counts. */
export function firstOf(value: Json | undefined): Json | undefined {
  return isList(value) ? value[0] : value;
}

export function valueAt(value: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce((at: Json | undefined, name) => member(firstOf(at), name), value);
}

/** Text or number of the first member that has one. */
export function textIn(value: Json | undefined, names: string): string | undefined {
  for (const name of names.split(' ')) {
    const text = textOf(firstOf(valueAt(value, name)));
    if (text !== undefined) return text;
  }
  return undefined;
}

export function fieldsIn<Name extends IncidentFieldName>(
  value: Json | undefined,
  names: Readonly<Record<Name, string>>,
): Readonly<Partial<Record<Name, string>>> {
  const found = Object.entries<string>(names).flatMap(([field, members]) => {
    const text = textIn(value, members);
    return text === undefined ? [] : [[field, text]];
  });
  return Object.fromEntries(found) as Partial<Record<Name, string>>;
}

/** Severity with a word in one member and a number in another. `levelOf` is the scale of the number. */
export function severityIn(
  value: Json | undefined,
  word: string,
  number?: string,
  levelOf?: (number: number) => Severity | undefined,
): SaidSeverity | undefined {
  const said = textIn(value, number === undefined ? word : `${word} ${number}`);
  if (said === undefined) return undefined;
  const amount = number === undefined ? undefined : numberOf(member(value, number));
  return amount === undefined ? { said } : { said, number: amount, level: levelOf?.(amount) };
}

const LONGEST_PART = 200;

/** Event, object, and place or person in one line, such as `Known Malware: git (linux-vm, alice)`. */
export function headline(
  what: string | undefined,
  detail: string | undefined,
  ...where: readonly (string | undefined)[]
): string | undefined {
  const before = [what, detail].filter((part) => part !== undefined).map(oneLine);
  if (before.length === 0) return undefined;
  const behind = where.filter((part) => part !== undefined).map(oneLine);
  const title = [...new Set(before)].join(': ');
  return behind.length === 0 ? title : `${title} (${behind.join(', ')})`;
}

/** Quotes a subject, because the sender of the mail wrote it and could imitate text of the tool. */
export function quoted(subject: string | undefined): string | undefined {
  return subject && inQuotes(oneLine(shownStart(subject, LONGEST_PART - 2)));
}

function oneLine(text: string): string {
  return shownStart(text, LONGEST_PART).replace(/[\s\p{Cc}]+/gu, ' ');
}

type MailField = (typeof PHISHING_KEYS)[number];
type MailFields = Readonly<Partial<Record<MailField | 'recipients', string>>>;

/**
 * Names of this service, and of the mail message in products of Microsoft:
 * https://learn.microsoft.com/en-us/azure/sentinel/entities-reference#mail-message
 * https://learn.microsoft.com/en-us/graph/api/resources/security-analyzedmessageevidence
 */
const MAIL_FIELDS: Readonly<Record<MailField, string>> = {
  message_id:
    'message_id messageId internetMessageId InternetMessageId networkMessageId NetworkMessageId',
  // The sender that the mail shows (P2) before the sender of the envelope (P1).
  sender: 'sender Sender p2Sender P2Sender p1Sender P1Sender',
  recipient: 'recipient Recipient recipients Recipients recipientEmailAddress',
  subject: 'subject Subject',
  received_at: 'received_at receivedAt receivedDateTime receiveDate ReceivedDate',
};

/** A line of a mail header has at most 998 characters. */
const LONGEST_FIELD = 998;

export function mailFields(value: Json | undefined): MailFields {
  const fields: Partial<Record<MailField | 'recipients', string>> = {};
  for (const [field, names] of Object.entries(MAIL_FIELDS) as [MailField, string][]) {
    const found = names.split(' ').map((name) => addressOf(firstOf(member(value, name))));
    const text = found.find((address) => address !== undefined);
    if (text === undefined || text.length > LONGEST_FIELD) continue;
    if (field !== 'received_at' || isIso8601(text)) fields[field] = text;
  }
  const lists = MAIL_FIELDS.recipient.split(' ').map((name) => member(value, name));
  const recipients = addressList(lists.find(isList)?.map(addressOf) ?? []);
  return recipients === undefined ? fields : { ...fields, recipients };
}

/** Microsoft Graph writes a sender as an object. */
function addressOf(value: Json | undefined): string | undefined {
  return isObject(value) ? textIn(value, 'emailAddress address') : textOf(value);
}

export function sentBetween({ sender, recipient }: MailFields): (string | undefined)[] {
  return [sender && `from ${sender}`, recipient && `to ${recipient}`];
}
