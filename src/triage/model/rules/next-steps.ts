import { isIP } from 'node:net';
import { actionType, type ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Classification } from '../../../incidents/incident.js';
import type { ExtractedIndicator, IndicatorType } from '../../evidence/indicators.js';
import { MESSAGES, type Facts } from './facts.js';
import { linkedHosts } from './hosts.js';

/** Missing facts of an event, in the order in which an analyst would ask for them. */
type Gap = readonly [what: string, isSaid: (facts: Facts, types: ReadonlySet<string>) => boolean];

const has =
  (...keys: readonly string[]) =>
  (facts: Facts) =>
    facts.named(...keys).some(({ value }) => value !== '');

const OUTCOME = has('outcome', 'result', 'status', 'success', 'action', 'actiontaken');
const MAIL_GAPS: readonly Gap[] = [
  ['the results of SPF, DKIM and DMARC', (facts) => facts.authentication.pointers.length > 0],
  [
    'the text of the mail',
    (facts) => facts.named(...[...MESSAGES].filter((key) => !key.startsWith('subj'))).length > 0,
  ],
  ['its links', (facts) => linkedHosts(facts).length > 0],
];
const SIGN_IN_GAPS: readonly Gap[] = [
  ['whether the sign-in succeeded', OUTCOME],
  ['the address it came from', (_, types) => types.has('ip')],
  ['the device', has('device', 'devicename', 'deviceid', 'devicestate', 'managed', 'compliant')],
  ['the second factor', has('mfa', 'factor', 'mfaresult', 'mfamethod', 'authenticationmethod')],
];
const COMMAND = has('commandline', 'cmdline', 'cmd', 'command', 'process', 'args');
const MACHINE: Gap = [
  'the machine',
  ({ fields }, types) => types.has('host') || fields.host !== undefined,
];
const PROGRAM_GAPS: readonly Gap[] = [
  MACHINE,
  ['the digest of a file', (_, types) => types.has('hash')],
  ['the command line', COMMAND],
  ['what the tool did about it', OUTCOME],
];
const NETWORK_GAPS: readonly Gap[] = [MACHINE, ['what the tool did about it', OUTCOME]];
const CLOUD_GAPS: readonly Gap[] = [
  ['who did it', ({ fields }, types) => types.has('user') || fields.user !== undefined],
  ['the address it came from', (_, types) => types.has('ip')],
  ['what was done since', OUTCOME],
];
const CODE_GAPS: readonly Gap[] = [
  [
    'whether it was mended',
    has('state', 'status', 'fixedat', 'resolution', 'dismissedat', 'validity'),
  ],
];

const DATA = /data_exfiltration|policy_violation/;
const PROGRAMS = /malware|ransomware/;
const SIGN_IN = /login|account|brute_force|sign_in/;

const gapsOf = (facts: Facts, incidentType: string): readonly Gap[] => {
  if (facts.isMail) return MAIL_GAPS;
  if (SIGN_IN.test(incidentType)) return SIGN_IN_GAPS;
  const { fields } = facts;
  if ((fields.repository ?? fields.package) !== undefined) return CODE_GAPS;
  const program = fields.file ?? fields.process ?? fields.hash;
  if (PROGRAMS.test(incidentType) || program !== undefined) return PROGRAM_GAPS;
  const isOfAccount =
    fields.host === undefined && (fields.resource ?? fields.account) !== undefined;
  return isOfAccount || DATA.test(incidentType) ? CLOUD_GAPS : NETWORK_GAPS;
};

export function missingIn(
  facts: Facts,
  incidentType: string,
  indicators: readonly ExtractedIndicator[],
): readonly string[] {
  const types = new Set(indicators.map(({ type }) => type));
  return gapsOf(facts, incidentType)
    .filter(([, isSaid]) => !isSaid(facts, types))
    .map(([what]) => what);
}

/** A question to a connector that would settle an open point of the event. */
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

/** Returns the most informative look-ups with their questions. Prefers values of the well-known fields. */
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

/** Places where tools link to themselves, and where tools name our own machines, mailboxes and people. */
const PLACE_OF_TOOL =
  /^\/(?:link|source)$|context$|\/(?:alert|rule|rules|detection|incident|case|_links|links)(?:\/\d+)?\/(?:url|link|href|self|rulelink)$/i;
const PLACE_OF_OURS =
  /(?:dns_?name|machine_?domain|host_?name|fqdn|user_?principal(?:_?name)?|^\/(?:user|actor|target|reported_by)|recipient(?:_?email)?(?:_?address)?(?:\/\d+)?|upn_?suffix|nt_?domain|account_?domain|\/mailbox\/.*|actor\/alternateId)$/i;

/** False for values that a look-up cannot judge: private addresses, the own domain, and the tool's own page. */
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

/** True for parts of names that look like domains: `g.ito` of the account `EXAMPLE\\g.ito`, or a file name. */
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

/** A spoofed sender has the domain of the recipient, so this domain counts as own only beside another sender. */
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

/** Usual actions against each category, without parameters, because a person chooses the parameters. */
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

/** Targets in the incident by the first parameter of an action. Other actions need no target. */
const TARGETS: Readonly<Record<string, readonly Target[]>> = {
  ...{ host_id: ['host'], message_id: ['mail'], sender: ['sender'], recipient: ['user', 'email'] },
  ...{ user: ['user'], ip: ['ip'], domain: ['domain'], url: ['url'], hash: ['hash'] },
};

const MAIL_IDS = 'messageid internetmessageid networkmessageid mailid emailid'.split(' ');

/** Accounts of the system itself, which no directory can disable. */
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

/** Recommends countermeasures for malicious, look-ups for suspicious or inconclusive, and nothing for benign. */
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
