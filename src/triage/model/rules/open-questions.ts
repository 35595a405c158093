import { isIP } from 'node:net';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { ExtractedIndicator, IndicatorType } from '../../evidence/indicator.js';
import type { Facts } from './facts.js';
import { isFromInside, linkedHosts } from './hosts.js';
import { MESSAGES } from './prose.js';

/** What an event does not say, in the order in which an analyst would ask for it. */
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
const MACHINE_GAPS: readonly Gap[] = [
  ['the machine', ({ fields }, types) => types.has('host') || fields.host !== undefined],
  ['the digest of a file', (_, types) => types.has('hash')],
  ['the command line', has('commandline', 'cmdline', 'cmd', 'command', 'process', 'args')],
  ['what the tool did about it', OUTCOME],
];

const SIGN_IN = /login|account|brute_force|sign_in/;

const gapsOf = (facts: Facts, incidentType: string): readonly Gap[] => {
  if (facts.isMail) return MAIL_GAPS;
  return SIGN_IN.test(incidentType) ? SIGN_IN_GAPS : MACHINE_GAPS;
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

/** A question to a connector that would settle what the event leaves open. */
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

/** The look-ups that say most, each with what it would be asked: first of what the well-known fields name. */
export function lookUpsFor(
  facts: Facts,
  incidentType: string,
  indicators: readonly ExtractedIndicator[],
): readonly LookUp[] {
  const { hash, url, ip, domain, host } = facts.fields;
  const named = new Set([hash, url, ip, domain, host].map((text) => text?.toLowerCase()));
  const own = ownDomain(facts);
  const found = BY_TYPE.flatMap(([type, action, asks]) => {
    const ofType = indicators.filter((one) => one.type === type && isOutside(one, own));
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

/** Nobody outside knows a private address, and a look-up of the own domain says nothing. */
function isOutside({ type, value }: ExtractedIndicator, own: string | undefined): boolean {
  if (type === 'ip') return isIP(value) === 0 || !PRIVATE.test(value);
  if (own === undefined) return true;
  if (type === 'domain') return value !== own && !value.endsWith(`.${own}`);
  return type !== 'url' || !value.includes(`//${own}/`);
}

const domainOf = (address: string | undefined): string | undefined =>
  address?.includes('@') ? address.slice(address.lastIndexOf('@') + 1).toLowerCase() : undefined;

function ownDomain(facts: Facts): string | undefined {
  const { recipient, user } = facts.fields;
  const own = domainOf(recipient) ?? domainOf(user);
  return own !== undefined && (isFromInside(facts) || domainOf(facts.fields.sender) !== own)
    ? own
    : undefined;
}
