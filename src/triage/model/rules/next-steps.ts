import { isIP } from 'node:net';
import { actionType, type ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Classification } from '../../../incidents/incident.js';
import type { ExtractedIndicator, IndicatorType } from '../../evidence/indicators.js';
import { MESSAGES, type Facts } from './facts.js';
import { linkedHosts } from './hosts.js';

const has = (names: string) => (facts: Facts) =>
  facts.named(...names.split(' ')).some(({ value }) => value !== '');
type IsSaid = (facts: Facts, types: ReadonlySet<string>) => boolean;
const OUTCOME = has('outcome result status success action actiontaken');
const TEXTS = [...MESSAGES].filter((key) => !key.startsWith('subj'));

const GAPS: readonly (readonly [kinds: string, what: string, isSaid: IsSaid])[] = [
  [
    'mail',
    'the results of SPF, DKIM and DMARC',
    (facts) => facts.authentication.pointers.length > 0,
  ],
  ['mail', 'the text of the mail', (facts) => facts.named(...TEXTS).length > 0],
  ['mail', 'its links', (facts) => linkedHosts(facts).length > 0],
  ['sign-in', 'whether the sign-in succeeded', OUTCOME],
  ['cloud', 'who did it', ({ fields }, types) => types.has('user') || fields.user !== undefined],
  ['sign-in cloud', 'the address it came from', (_, types) => types.has('ip')],
  ['sign-in', 'the device', has('device devicename deviceid devicestate managed compliant')],
  ['sign-in', 'the second factor', has('mfa factor mfaresult mfamethod authenticationmethod')],
  ['cloud', 'what was done since', OUTCOME],
  [
    'program network',
    'the machine',
    ({ fields }, types) => types.has('host') || fields.host !== undefined,
  ],
  ['program', 'the digest of a file', (_, types) => types.has('hash')],
  ['program', 'the command line', has('commandline cmdline cmd command process args')],
  ['program network', 'what the tool did about it', OUTCOME],
  ['code', 'whether it was mended', has('state status fixedat resolution dismissedat validity')],
];

const SIGN_IN = /login|account|brute_force|sign_in/;

function kindOf({ isMail, fields }: Facts, incidentType: string): string {
  if (isMail) return 'mail';
  if (SIGN_IN.test(incidentType)) return 'sign-in';
  if ((fields.repository ?? fields.package) !== undefined) return 'code';
  const program = fields.file ?? fields.process ?? fields.hash;
  if (/malware|ransomware/.test(incidentType) || program !== undefined) return 'program';
  const isOfAccount =
    fields.host === undefined && (fields.resource ?? fields.account) !== undefined;
  return isOfAccount || /data_exfiltration|policy_violation/.test(incidentType)
    ? 'cloud'
    : 'network';
}

export function missingIn(
  facts: Facts,
  incidentType: string,
  indicators: readonly ExtractedIndicator[],
): readonly string[] {
  const types = new Set(indicators.map(({ type }) => type));
  const kind = kindOf(facts, incidentType);
  return GAPS.flatMap(([kinds, what, isSaid]) =>
    kinds.split(' ').includes(kind) && !isSaid(facts, types) ? [what] : [],
  );
}

export interface LookUp {
  readonly action: ActionTypeName;
  readonly value: string;
  readonly asks: string;
}

const BY_TYPE: readonly (readonly [IndicatorType, ActionTypeName, asks: string])[] = [
  ['hash', 'lookup_hash', 'whether the file is known malware'],
  ['url', 'lookup_url', 'whether the link leads to an attack'],
  ['ip', 'lookup_ip', 'whether the address is known for attacks'],
  ['domain', 'lookup_domain', 'whether the domain is known for attacks, and how old it is'],
  ['host', 'scan_host', 'whether malware is on the machine'],
];
const MOST_LOOK_UPS = 2;

export function lookUpsFor(
  facts: Facts,
  incidentType: string,
  indicators: readonly ExtractedIndicator[],
): readonly LookUp[] {
  const { hash, url, ip, domain, host } = facts.fields;
  const named = new Set([hash, url, ip, domain, host].map((text) => text?.toLowerCase()));
  const own = ownDomain(facts);
  const found = BY_TYPE.flatMap(([type, action, asks]) => {
    const ofType = indicators.filter(
      (one) => one.type === type && isOutside(one, own) && !isPartOf(one, facts),
    );
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

/** False for values that a lookup cannot judge: private addresses, the own domain, and the tool's own page. */
function isOutside(
  { type, value, pointers }: ExtractedIndicator,
  own: string | undefined,
): boolean {
  if (type === 'domain' || type === 'url') {
    const isSelf = (pointer: string) =>
      PLACE_OF_TOOL.test(pointer) || (type === 'domain' && PLACE_OF_OURS.test(pointer));
    if (pointers.every(isSelf)) return false;
  }
  if (type === 'ip') return isIP(value) === 0 || !PRIVATE.test(value);
  if (own === undefined) return true;
  if (type === 'domain') return value !== own && !value.endsWith(`.${own}`);
  return type !== 'url' || !value.includes(`//${own}/`);
}

/** True for a part of a name that looks like a domain: `g.ito` in the account `EXAMPLE\\g.ito`, or a file name. */
function isPartOf({ type, value }: ExtractedIndicator, { fields }: Facts): boolean {
  const names = [fields.user, fields.file, fields.process, fields.host];
  return (
    type === 'domain' &&
    names.some((name) => name !== undefined && partsOf(name.toLowerCase()).includes(value))
  );
}
const partsOf = (name: string): readonly string[] => [name, ...name.split(/[\\/\s]+/)];

const domainOf = (address: string | undefined): string | undefined =>
  address?.includes('@') ? address.slice(address.lastIndexOf('@') + 1).toLowerCase() : undefined;

/** Returns the domain of the recipient or user; `undefined` if the sender has it too, as a spoofed sender would. */
function ownDomain({ fields: { recipient, user, sender } }: Facts): string | undefined {
  const own = domainOf(recipient) ?? domainOf(user);
  return domainOf(sender) === own ? undefined : own;
}

const MAIL: readonly ActionTypeName[] = [
  'quarantine_email',
  'block_sender',
  'lookup_url',
  'lookup_domain',
];
const HOST: readonly ActionTypeName[] = ['isolate_host', 'scan_host', 'lookup_hash'];
const ACCOUNT: readonly ActionTypeName[] = ['revoke_sessions', 'reset_password', 'lookup_ip'];
const GUESSING: readonly ActionTypeName[] = ['block_ip', 'lookup_ip', 'reset_password'];

/** Usual actions for each category. Without parameters, because a person chooses the parameters. */
const AGAINST: Readonly<Record<string, readonly ActionTypeName[]>> = {
  phishing: MAIL,
  spear_phishing: MAIL,
  spam: ['quarantine_email'],
  bec: ['quarantine_email', 'block_sender', 'notify_user'],
  malware_delivery: ['quarantine_email', 'block_sender', 'lookup_hash', 'scan_host'],
  malware: HOST,
  ransomware: ['isolate_host', 'scan_host', 'disable_user', 'lookup_hash'],
  cryptominer: ['isolate_host', 'scan_host', 'block_domain'],
  rat: ['isolate_host', 'scan_host', 'block_ip', 'lookup_ip'],
  pup: ['scan_host', 'lookup_hash'],
  account_takeover: ACCOUNT,
  impossible_travel: ['revoke_sessions', 'lookup_ip', 'notify_user'],
  brute_force: GUESSING,
  credential_stuffing: GUESSING,
  web_attack: ['block_ip', 'lookup_ip'],
  data_exfiltration: ['disable_user', 'revoke_sessions', 'isolate_host', 'block_domain'],
};

const LOOK_UPS_ONLY = /^(?:lookup_|scan_host$|notify_)/;

export type Target = IndicatorType | 'mail' | 'sender';

/** Kinds of targets that an action needs, by its first parameter. Any other action needs no target. */
const TARGETS: Readonly<Record<string, readonly Target[]>> = {
  ...{ host_id: ['host'], message_id: ['mail'], sender: ['sender'], recipient: ['user', 'email'] },
  ...{ user: ['user'], ip: ['ip'], domain: ['domain'], url: ['url'], hash: ['hash'] },
};

const MAIL_IDS = 'messageid internetmessageid networkmessageid mailid emailid'.split(' ');

/** Accounts of the operating system, which no directory can disable. */
const OF_SYSTEM =
  /^(?:(?:nt authority|nt-autorität)\\)?(?:system|local service|network service|root)$/;

const isOfSystem = ({ type, value }: ExtractedIndicator): boolean =>
  type === 'user' && OF_SYSTEM.test(value.toLowerCase());

/** Returns the targets that the incident contains. A mail counts as a target if its id is known. */
export function targetsIn(
  facts: Facts,
  indicators: readonly ExtractedIndicator[],
): ReadonlySet<Target> {
  const targets = new Set<Target>(
    indicators.filter((one) => !isOfSystem(one)).map(({ type }) => type),
  );
  if (facts.named(...MAIL_IDS).some(({ value }) => value !== '')) targets.add('mail');
  if (facts.fields.sender !== undefined) targets.add('sender');
  return targets;
}

const TICKET: ActionTypeName = 'create_ticket';

/** For a malicious verdict: countermeasures. For a suspicious or inconclusive verdict: lookups. For benign: nothing. */
export function actionsFor(
  classification: Classification,
  category: string,
  targets: ReadonlySet<Target>,
  lookUps: readonly LookUp[],
): readonly ActionTypeName[] {
  if (classification === 'benign') return [];
  if (classification === 'inconclusive') return [...lookUps.map(({ action }) => action), TICKET];
  const against = Object.hasOwn(AGAINST, category) ? AGAINST[category]! : [];
  const possible = against.filter((name) => {
    const { parameters } = actionType(name);
    return TARGETS[parameters[0]!.name]?.some((one) => targets.has(one)) ?? true;
  });
  if (classification === 'malicious' && possible.length > 0) return possible;
  return [
    TICKET,
    ...(classification === 'suspicious' ? possible.filter((name) => LOOK_UPS_ONLY.test(name)) : []),
  ];
}
