import { actionType, type ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Classification } from '../../../incidents/incident.js';
import type { IncidentFieldName, IncidentFields } from '../../../incidents/incident-fields.js';
import type { ExtractedIndicator, IndicatorType } from '../../evidence/indicators.js';
import { type Facts, TEXT_KEYS } from './facts.js';

const OUTCOME = 'outcome result status success action actiontaken';

/** For each kind of event: a question, and the indicator types and keys that answer the question. */
const GAPS: readonly (readonly [kinds: string, question: string, answers: string])[] = [
  ['mail', 'the results of SPF, DKIM and DMARC', 'authentication'],
  ['mail', 'the text of the mail', TEXT_KEYS.join(' ')],
  ['mail', 'its links', 'url'],
  ['sign-in', 'whether the sign-in succeeded', OUTCOME],
  ['cloud', 'who did it', 'user'],
  ['sign-in cloud', 'the address it came from', 'ip'],
  ['sign-in', 'the device', 'device devicename deviceid devicestate managed compliant'],
  ['sign-in', 'the second factor', 'mfa factor mfaresult mfamethod authenticationmethod'],
  ['program network', 'the machine', 'host'],
  ['program', 'the digest of a file', 'hash'],
  ['program', 'the command line', 'commandline cmdline cmd command process args'],
  ['program network', 'what the tool did about it', OUTCOME],
  ['code', 'whether it was mended', 'state status fixedat resolution dismissedat validity'],
];

const SIGN_IN = /login|account|brute_force|sign_in/;

function kindOf({ isMail, fields }: Facts, incidentType: string): string {
  const has = (...names: readonly IncidentFieldName[]) =>
    names.some((name) => fields[name] !== undefined);
  if (isMail) return 'mail';
  if (SIGN_IN.test(incidentType)) return 'sign-in';
  if (has('repository', 'package')) return 'code';
  if (/malware|ransomware/.test(incidentType) || has('file', 'process', 'hash')) return 'program';
  if (/data_exfiltration|policy_violation/.test(incidentType)) return 'cloud';
  return !has('host') && has('resource', 'account') ? 'cloud' : 'network';
}

export function missingIn(
  facts: Facts,
  incidentType: string,
  indicators: readonly ExtractedIndicator[],
): readonly string[] {
  const said = new Set<string>(indicators.map(({ type }) => type));
  if (facts.authentication.pointers.length > 0) said.add('authentication');
  const kind = kindOf(facts, incidentType);
  return GAPS.flatMap(([kinds, question, answers]) => {
    const isSaid = answers.split(' ').some((name) => said.has(name) || isNamed(facts, name));
    return kinds.split(' ').includes(kind) && !isSaid ? [question] : [];
  });
}

const isNamed = (facts: Facts, ...keys: readonly string[]): boolean =>
  facts.named(...keys).some(({ value }) => value !== '');

const BY_TYPE: readonly (readonly [IndicatorType, ActionTypeName, asks: string])[] = [
  ['hash', 'lookup_hash', 'whether the file is known malware'],
  ['url', 'lookup_url', 'whether the link leads to an attack'],
  ['ip', 'lookup_ip', 'whether the address is known for attacks'],
  ['domain', 'lookup_domain', 'whether the domain is known for attacks, and how old it is'],
  ['host', 'scan_host', 'whether malware is on the machine'],
];
const MOST_LOOK_UPS = 2;

export type LookUp = ReturnType<typeof lookUpsFor>[number];

export function lookUpsFor(
  facts: Facts,
  incidentType: string,
  indicators: readonly ExtractedIndicator[],
) {
  const { hash, url, ip, domain, host } = facts.fields;
  const named = new Set([hash, url, ip, domain, host].map((text) => text?.toLowerCase()));
  const found = BY_TYPE.flatMap(([type, action, asks]) => {
    const ofType = indicators.filter((one) => one.type === type && isWorthLookingUp(one, facts));
    const first = ofType.find(({ value }) => named.has(value.toLowerCase())) ?? ofType[0];
    return first ? [{ action, value: first.value, asks }] : [];
  });
  const isOfMachine = !facts.isMail && !SIGN_IN.test(incidentType);
  return found
    .filter(({ action }) => action !== 'scan_host' || isOfMachine)
    .slice(0, MOST_LOOK_UPS);
}

const PRIVATE =
  /^(?:10\.|127\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd]|fe80:|::1$)/i;

/** Places where tools link to their own pages, or name machines, mailboxes and people of the own company. */
const PLACE_OF_TOOL =
  /^\/(?:link|source)$|context$|\/(?:alert|rule|rules|detection|incident|case|_links|links)(?:\/\d+)?\/(?:url|link|href|self|rulelink)$/i;
const PLACE_OF_OURS =
  /(?:dns_?name|machine_?domain|host_?name|fqdn|user_?principal(?:_?name)?|^\/(?:user|actor|target|reported_by)|recipient(?:_?email)?(?:_?address)?(?:\/\d+)?|upn_?suffix|nt_?domain|account_?domain|\/mailbox\/.*|actor\/alternateId)$/i;

/** False for values that a lookup cannot judge: private addresses, the own domain, the tool's page, parts of names. */
function isWorthLookingUp(
  { type, value, pointers }: ExtractedIndicator,
  { fields }: Facts,
): boolean {
  const own = ownDomain(fields);
  const isOwn = type === 'url' ? value.includes(`//${own}/`) : `.${value}`.endsWith(`.${own}`);
  const isSelf = (pointer: string) =>
    PLACE_OF_TOOL.test(pointer) || (type === 'domain' && PLACE_OF_OURS.test(pointer));
  // In the account `EXAMPLE\\g.ito`, the name `g.ito` looks like a domain. So does the name of a file.
  const isPart = (name = '') =>
    name
      .toLowerCase()
      .split(/[\\/\s]+/)
      .includes(value);
  const names = [fields.user, fields.file, fields.process, fields.host];
  if (type === 'ip') return !PRIVATE.test(value);
  if (type !== 'url' && type !== 'domain') return true;
  return !(own && isOwn) && !pointers.every(isSelf) && !(type === 'domain' && names.some(isPart));
}

const domainOf = (address = ''): string | undefined =>
  /@([^@]*)$/.exec(address)?.[1]?.toLowerCase();

/** Returns the domain of the recipient or user; `undefined` if the sender has it too, as a spoofed sender would. */
function ownDomain({ recipient, user, sender }: IncidentFields): string | undefined {
  const own = domainOf(recipient) ?? domainOf(user);
  return domainOf(sender) === own ? undefined : own;
}

type Actions = readonly ActionTypeName[];
const MAIL: Actions = ['quarantine_email', 'block_sender'];
const HOST: Actions = ['isolate_host', 'scan_host'];
const ACCOUNT: Actions = ['disable_user', 'revoke_sessions'];
const GUESSING: Actions = ['block_ip', 'lookup_ip', 'reset_password'];

/** For each category: its words in a sentence, and usual actions. A person chooses the parameters of the actions. */
export const CATEGORIES: Readonly<Record<string, readonly [words: string, ...against: Actions]>> = {
  phishing: ['phishing', ...MAIL, 'lookup_url', 'lookup_domain'],
  bec: ['fraud by mail', ...MAIL, 'notify_user'],
  malware_delivery: ['a mail that delivers malware', ...MAIL, 'lookup_hash', 'scan_host'],
  spam: ['spam', 'quarantine_email'],
  malware: ['malware', ...HOST, 'lookup_hash'],
  ransomware: ['ransomware', ...HOST, 'disable_user', 'lookup_hash'],
  cryptominer: ['a cryptominer', ...HOST, 'block_domain'],
  rat: ['remote control by malware', ...HOST, 'block_ip', 'lookup_ip'],
  pup: ['unwanted software', 'scan_host', 'lookup_hash'],
  brute_force: ['password guessing', ...GUESSING],
  credential_stuffing: ['credential stuffing', ...GUESSING],
  data_exfiltration: ['data that was taken out', ...ACCOUNT, 'isolate_host', 'block_domain'],
  impossible_travel: ['impossible travel', 'revoke_sessions', 'lookup_ip', 'notify_user'],
  account_takeover: ['account takeover', 'revoke_sessions', 'reset_password', 'lookup_ip'],
  web_attack: ['an attack on a web server', 'block_ip', 'lookup_ip'],
};

const LOOK_UPS_ONLY = /^(?:lookup_|scan_host$|notify_)/;

/** Kinds of targets of an action, by its first parameter. Any other parameter has the name of its kind. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  host_id: ['host'],
  message_id: ['mail'],
  recipient: ['user', 'email'],
};

const MAIL_IDS = 'messageid internetmessageid networkmessageid mailid emailid'.split(' ');

/** Accounts of the operating system, which no directory can disable. */
const OF_SYSTEM =
  /^(?:(?:nt authority|nt-autorität)\\)?(?:system|local service|network service|root)$/i;

/** For a malicious verdict: countermeasures. For a suspicious or inconclusive verdict: lookups. For benign: nothing. */
export function actionsFor(
  classification: Classification,
  category: string,
  facts: Facts,
  indicators: readonly ExtractedIndicator[],
  lookUps: readonly LookUp[],
): Actions {
  if (classification === 'benign') return [];
  if (classification === 'inconclusive') {
    return [...lookUps.map(({ action }) => action), 'create_ticket'];
  }
  const targets = new Set<string>(
    indicators.flatMap(({ type, value }) =>
      type === 'user' && OF_SYSTEM.test(value) ? [] : [type],
    ),
  );
  if (isNamed(facts, ...MAIL_IDS)) targets.add('mail');
  if (facts.fields.sender !== undefined) targets.add('sender');
  const [, ...against] = CATEGORIES[category] ?? [''];
  const possible = against.filter((action) => {
    const parameter = actionType(action).parameters[0]!.name;
    return (TARGETS[parameter] ?? [parameter]).some((kind) => targets.has(kind));
  });
  if (classification === 'malicious' && possible.length > 0) return possible;
  return ['create_ticket', ...possible.filter((name) => LOOK_UPS_ONLY.test(name))];
}
