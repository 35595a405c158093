import { isIso8601 } from '../../platform/validation/iso-8601.js';
import type { PHISHING_KEYS } from '../../incidents/raw-data-rules.js';
import { isObject, type Json, member, textOf } from '../reading/json.js';
import { firstOf, textIn } from './event-text.js';

export type MailField = (typeof PHISHING_KEYS)[number];
export type MailFields = Readonly<Partial<Record<MailField, string>>>;

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
  const fields: Partial<Record<MailField, string>> = {};
  for (const [field, names] of FIELDS) {
    const text = addressIn(value, names);
    if (text === undefined || text.length > LONGEST_FIELD) continue;
    if (field !== 'received_at' || isIso8601(text)) fields[field] = text;
  }
  return fields;
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
