import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Classification } from '../../../incidents/incident.js';
import type { ExtractedIndicator, IndicatorType } from '../../evidence/indicator.js';
import type { Facts } from './facts.js';
import type { LookUp } from './open-questions.js';

const MAIL: readonly ActionTypeName[] = [
  'quarantine_email',
  'block_sender',
  'lookup_url',
  'lookup_domain',
];
const HOST: readonly ActionTypeName[] = ['isolate_host', 'scan_host', 'lookup_hash'];
const ACCOUNT: readonly ActionTypeName[] = ['revoke_sessions', 'reset_password', 'lookup_ip'];
const GUESSING: readonly ActionTypeName[] = ['block_ip', 'lookup_ip', 'reset_password'];

/** What usually helps against it. Names of types only: who runs one gives its parameters. */
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
};

const LOOK_UPS_ONLY = /^(?:lookup_|scan_host$|notify_)/;

export type Target = IndicatorType | 'mail' | 'sender';

/** What there has to be in the incident for an action to have something to act on. Actions that are not named need nothing. */
const TARGETS: Readonly<Partial<Record<ActionTypeName, readonly Target[]>>> = {
  isolate_host: ['host'],
  scan_host: ['host'],
  disable_user: ['user'],
  revoke_sessions: ['user'],
  reset_password: ['user'],
  notify_user: ['user', 'email'],
  quarantine_email: ['mail'],
  block_sender: ['sender'],
  block_ip: ['ip'],
  lookup_ip: ['ip'],
  block_domain: ['domain'],
  lookup_domain: ['domain'],
  lookup_url: ['url'],
  lookup_hash: ['hash'],
};

const MAIL_IDS = [
  'messageid',
  'internetmessageid',
  'networkmessageid',
  'mailid',
  'emailid',
] as const;

/** Accounts of the system itself, which no directory can disable. */
const OF_SYSTEM =
  /^(?:(?:nt authority|nt-autorität)\\)?(?:system|local service|network service|root)$/;

const isOfSystem = ({ type, value }: ExtractedIndicator): boolean =>
  type === 'user' && OF_SYSTEM.test(value.toLowerCase());

/** What an incident has of these. A mail can be acted on when its id is known. */
export function targetsIn(
  facts: Facts,
  indicators: readonly ExtractedIndicator[],
): ReadonlySet<Target> {
  const targets = new Set<Target>(
    indicators.filter((one) => !isOfSystem(one)).map(({ type }) => type),
  );
  if (facts.named(...MAIL_IDS).some(({ value }) => value !== '')) targets.add('mail');
  if (facts.authentication.from !== undefined || facts.fields.sender !== undefined)
    targets.add('sender');
  return targets;
}

const TICKET: ActionTypeName = 'create_ticket';

/** An attack is answered; of what is suspicious or open more is found out; nothing is done about what is benign. */
export function actionsFor(
  classification: Classification,
  category: string,
  targets: ReadonlySet<Target>,
  lookUps: readonly LookUp[],
): readonly ActionTypeName[] {
  if (classification === 'benign') return [];
  if (classification === 'inconclusive') return [...lookUps.map(({ action }) => action), TICKET];
  const against = Object.hasOwn(AGAINST, category) ? AGAINST[category]! : [];
  const possible = against.filter((name) => TARGETS[name]?.some((one) => targets.has(one)) ?? true);
  if (classification === 'malicious' && possible.length > 0) return possible;
  return [
    TICKET,
    ...(classification === 'suspicious' ? possible.filter((name) => LOOK_UPS_ONLY.test(name)) : []),
  ];
}
