import { type IncidentFieldName, addressList } from '../../incidents/incident-fields.js';
import type { Severity } from '../../incidents/incident.js';
import { inQuotes } from '../../incidents/titles.js';
import { shownStart } from '../../platform/text.js';
import type { SaidSeverity } from '../reading/alert.js';
import { type Json, isList, isObject, member, numberOf, textOf } from '../reading/json.js';
import { isIso8601 } from '../../platform/validation/fields.js';
import type { PHISHING_KEYS } from '../../incidents/raw-data-rules.js';

/** A member that is a text by its kind, not a number: for the fields by which a format is known. */
export function wordIn(value: Json | undefined, name: string): string | undefined {
  const word = member(value, name);
  return typeof word === 'string' ? textOf(word) : undefined;
}

/** The first of these members that is a text or a number. Of a list its first item counts. */
export function textIn(value: Json | undefined, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textOf(firstOf(member(value, name)));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The well-known fields that members of these names tell. */
export function fieldsIn(
  value: Json | undefined,
  names: Readonly<Partial<Record<IncidentFieldName, readonly string[]>>>,
): Readonly<Record<string, string>> {
  const found = Object.entries(names).flatMap(([field, members]) => {
    const text = textIn(value, ...members);
    return text === undefined ? [] : [[field, text]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

/** The severity as the first of these members says it. */
export function severityIn(
  value: Json | undefined,
  ...names: readonly string[]
): SaidSeverity | undefined {
  const said = textIn(value, ...names);
  return said === undefined ? undefined : { said };
}

/** A severity that has a word in one member and a number in another. What the number means, the format's own scale says. */
export function levelledSeverityIn(
  value: Json | undefined,
  word: string,
  number: string,
  levelOf: (number: number) => Severity | undefined,
): SaidSeverity | undefined {
  const said = textIn(value, word, number);
  if (said === undefined) return undefined;
  const amount = numberOf(member(value, number));
  return { said, number: amount, level: amount === undefined ? undefined : levelOf(amount) };
}

/** The first item of a list; of everything else the value itself. */
export function firstOf(value: Json | undefined): Json | undefined {
  return isList(value) ? value[0] : value;
}

const LONGEST_PART = 200;

/** What happened, to what, and where or to whom, in one line such as `Known Malware: git (linux-vm, alice)`. */
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

/** A subject in quotes: the sender of a mail wrote it, and its words cannot pose as those of the tool. */
export function quoted(subject: string | undefined): string | undefined {
  return subject && inQuotes(oneLine(shownStart(subject, LONGEST_PART - 2)));
}

function oneLine(text: string): string {
  return shownStart(text, LONGEST_PART).replace(/[\s\p{Cc}]+/gu, ' ');
}

type MailField = (typeof PHISHING_KEYS)[number];
export type MailFields = Readonly<Partial<Record<MailField | 'recipients', string>>>;

/**
 * How tools spell what an incident about a mail is asked for. Besides our own names these are the ones of the mail message
 * in Microsoft's products: https://learn.microsoft.com/en-us/azure/sentinel/entities-reference#mail-message and
 * https://learn.microsoft.com/en-us/graph/api/resources/security-analyzedmessageevidence
 */
const SPELLINGS: Readonly<Record<MailField, readonly string[]>> = {
  message_id: [
    'message_id',
    'messageId',
    'internetMessageId',
    'InternetMessageId',
    'networkMessageId',
    'NetworkMessageId',
  ],
  // The sender that the reader of the mail sees (P2) before the one of the envelope (P1).
  sender: ['sender', 'Sender', 'p2Sender', 'P2Sender', 'p1Sender', 'P1Sender'],
  recipient: ['recipient', 'Recipient', 'recipients', 'Recipients', 'recipientEmailAddress'],
  subject: ['subject', 'Subject'],
  received_at: ['received_at', 'receivedAt', 'receivedDateTime', 'receiveDate', 'ReceivedDate'],
};

const FIELDS = Object.entries(SPELLINGS) as [MailField, readonly string[]][];

/** A line of a mail's head has 998 characters at most. What is longer is no such field; it stays where it is. */
const LONGEST_FIELD = 998;

/** What the value tells of a mail, under the names that a phishing incident documents. */
export function mailFields(value: Json | undefined): MailFields {
  const fields: Partial<Record<MailField | 'recipients', string>> = {};
  for (const [field, names] of FIELDS) {
    const text = addressIn(value, names);
    if (text === undefined || text.length > LONGEST_FIELD) continue;
    if (field !== 'received_at' || isIso8601(text)) fields[field] = text;
  }
  const recipients = addressList(recipientsIn(value));
  return recipients === undefined ? fields : { ...fields, recipients };
}

/** All members of the first list of recipients. */
function recipientsIn(value: Json | undefined): readonly (string | undefined)[] {
  const lists = SPELLINGS.recipient.map((name) => member(value, name)).filter(isList);
  return lists[0]?.map(addressOf) ?? [];
}

/** The first of these members that tells one. */
function addressIn(value: Json | undefined, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = addressOf(firstOf(member(value, name)));
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Graph writes a sender as an object. */
function addressOf(value: Json | undefined): string | undefined {
  return isObject(value) ? textIn(value, 'emailAddress', 'address') : textOf(value);
}

/** For a title: from whom and to whom. */
export function sentBetween({ sender, recipient }: MailFields): (string | undefined)[] {
  return [sender && `from ${sender}`, recipient && `to ${recipient}`];
}
