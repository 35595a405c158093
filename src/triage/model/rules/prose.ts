import type { MailAuthentication } from '../../evidence/mail-authentication.js';
import { isInMail, isOwnPlace } from '../../evidence/own-places.js';
import { ACCOUNT_SIGNS, ENDPOINT_SIGNS, type Sign, WEB_SIGNS } from './signs.js';

interface NamedValue {
  readonly key: string;
  readonly path: string;
  readonly value: string | number | boolean;
}

/** Keys with words of people, in which `virus` may be the flu. */
export const MESSAGES: ReadonlySet<string> = new Set(
  (
    'subject subj objet betreff onderwerp oggetto asunto body bodytext bodyhtml bodyplain bodypreview preview snippet excerpt ' +
    'text texts textbody html htmlbody content corps comment'
  ).split(' '),
);
const MAIL_KEYS = [
  'messageid',
  'internetmessageid',
  'subject',
  'subj',
  'objet',
  'betreff',
  'onderwerp',
  'oggetto',
  'asunto',
];
const ADDRESS_KEYS = ['sender', 'from', 'fromaddress', 'mailfrom', 'senderaddress'];

interface Event {
  readonly authentication: MailAuthentication;
  at(pointer: string): NamedValue | undefined;
  named(...keys: readonly string[]): readonly NamedValue[];
}

/**
 * True if the event is about a mail: by its names and its sender, or by a check of the sender. Parameters of a request may have
 * the same names, so these names count only at places where a tool writes, and in objects that a tool names as a mail.
 */
export function isMailData(event: Event): boolean {
  const { spf, dkim, dmarc, compauth } = event.authentication;
  const checks = [spf, dkim, dmarc, compauth].flatMap(
    (told) => event.at(told?.pointer ?? '') ?? [],
  );
  return [
    ...checks,
    ...event.named(...MAIL_KEYS).filter(({ value }) => /\D/.test(String(value))),
    ...event.named(...ADDRESS_KEYS).filter(({ value }) => String(value).includes('@')),
  ].some(({ path }) => isOwnPlace(path) || isInMail(path));
}

/** Signs that only frauds use in a mail. In mails, all other signs of machines and accounts are only mentioned. */
const OF_MACHINES: ReadonlySet<string> = new Set(
  Object.keys({ ...ENDPOINT_SIGNS, ...ACCOUNT_SIGNS, ...WEB_SIGNS }).filter(
    (sign) => sign !== 'service_desk_pretext',
  ),
);

/** Signs that consist only of a name. */
const NAMES: ReadonlySet<string> = new Set(
  'malware_family ransomware_words ransom_note unwanted rat miner beacon loader_family web_attack guessing stuffing'.split(
    ' ',
  ),
);
const TITLE_KEYS = new Set('title event eventname alert alertname summary message'.split(' '));
/**
 * Announcements of a lesson, and reports of a tool update. Matches only the beginning or the whole text, because an attacker may
 * have written the rest.
 */
const ANNOUNCES =
  /^\s{0,9}(?:table-?top|(?:(?:security|awareness|incident|response|phishing|crisis) ){0,2}(?:exercise|drill|training|webinar|advisory|bulletin|newsletter))\b/i;
const REPORTS_UPDATE =
  /^[\p{L}\p{N} .'/-]{0,80}\b(?:signatures?|definitions?|rules?|rule ?sets?|feeds?|database) (?:(?:was|were|has been|have been) )?updated(?: to (?:version )?[\w.-]{1,30})?\.?$/iu;

/** Names that people give to themselves, machines and places: a person may have the name Ransom, and a town the name Trojan. */
const NAMED_THINGS =
  /(?:^|\/)(?:user|username|userid|userprincipalname|displayname|owner|department|site|company|organi[sz]ation|location|host|hostname|computer|computername|device|devicename|machine|machinename|share|sharename)(?:\/name)?$/;

/** True if a sign that consists only of a name was found in the name of a person, machine or place. */
export const isNameOfThing = (sign: Sign, { path }: NamedValue): boolean =>
  NAMES.has(sign) && NAMED_THINGS.test(path);

/**
 * Names whose values do not describe this event: types of objects (`#microsoft.graph.security.alert`), the attack stage of a rule
 * (`Lateral Movement`), and lists of new and known properties, which a separate rule reads.
 */
const SAYS_NOTHING =
  /(?:^|\/)(?:odata\/type|sensitiveinformation(?:typename|\/\w+)|tactics?(?:\/name)?|tacticid|behaviors|logonlysecuritydata|(?:mitre)?(?:attack)?techniques?(?:\/name|name|id)?)$/;

export const saysNothing = ({ path }: NamedValue): boolean => SAYS_NOTHING.test(path);

/** True if a text mentions an attack without being a trace of it: prose of a mail, or a title of an announcement. */
export function isOnlyTold(sign: Sign, { key, path, value }: NamedValue, isMail: boolean): boolean {
  if (isMail && OF_MACHINES.has(sign) && isProse(key, path)) return true;
  const text = String(value).slice(0, 200);
  return (
    NAMES.has(sign) && TITLE_KEYS.has(key) && (ANNOUNCES.test(text) || REPORTS_UPDATE.test(text))
  );
}

/** Contents and acts of a file are not prose, even if a mail delivered the file. */
const OF_FILES =
  /(?:^|\/)(?:attachments?|files?|extracted\w*|sandbox\w*|behaviou?rs?|process\w*|macros?|scripts?)\//;

const isProse = (key: string, path: string): boolean =>
  !OF_FILES.test(path) && (MESSAGES.has(key) || /(?:^|\/)body\/(?:html|plain)$/.test(path));
