import { parsePointer } from '../../platform/json-pointer.js';
import { plainName } from './raw-values.js';

/*
 * What speaks for an event has to stand where only a tool writes. A list of what strangers write would never be complete: there are
 * headers of mails and requests under any name, parameters, cookies, variables, properties of files. So these are the places whose
 * keys tools set themselves, the root among them; everything below any other name is a stranger's.
 */

/** What tools wrap an event in, such as https://documentation.wazuh.com/current/user-manual/ruleset/decoders/ and many webhooks. */
const ENVELOPES = [
  ...['data', 'event', 'events', 'alert', 'alerts', 'allfields'],
  // EventBridge, CloudTrail files and Winlogbeat.
  ...['detail', 'records', 'winlog'],
];

/** Whom a mail is from: what gateways say of it stands in objects of their own, and a header is never an object. */
const MAILS = ['mail', 'email', 'message', 'msg'];
const SENDER_CHECKS = [
  'auth',
  'authentication',
  'authenticationresults',
  'authres',
  'checks',
  'spf',
  'dkim',
  'dmarc',
  'spfverdict',
  'dkimverdict',
  'dmarcverdict',
];

/**
 * Not among them, for all that tools call so: `result` and `fields`, which search tools fill with each `name=value` that a line of a
 * log has; `labels`, `tags` and `metadata`, which come from files, machines and their owners; `context` and `details`, which hold
 * anything.
 */
const OWN = [
  // Sensors: programs and files, but neither their arguments nor their environment. https://www.elastic.co/guide/en/ecs/current/
  ...['process', 'parent', 'codesignature', 'signature', 'file', 'exe', 'dll', 'driver', 'package'],
  // Directories: sign-ins and devices. https://learn.microsoft.com/en-us/graph/api/resources/signin
  ...[
    'first',
    'second',
    'previous',
    'current',
    'signin',
    'login',
    'session',
    'outcome',
    'status',
    'location',
    'mfa',
    'mfadetail',
  ],
  ...['device', 'devicedetail', 'devicedetails', 'endpoint', 'host', 'client', 'source'],
  ...['securitycontext', 'authenticationdetails', 'conditionalaccess'],
  // Networks: connections and certificates. https://docs.suricata.io/en/latest/output/eve/eve-json-format.html
  ...['network', 'net', 'flow', 'connection', 'destination', 'remote'],
  ...['tls', 'cert', 'certificate'],
  // Gateways: how a mail came in.
  ...['delivery', 'policy', 'policymatch', 'threatsinfomap', 'flaggedrules'],
  // What is on file.
  ...['change', 'changerequest', 'maintenance', 'rulesofengagement', 'roe', 'pentest'],
  ...['vendor', 'supplier'],
  // What tools found out or counted.
  ...['engines', 'scanners', 'avresults', 'sandbox', 'reputation', 'enrichment', 'threatinfo'],
  ...['detection', 'history', 'prevalence', 'baseline', 'intel', 'whois', 'analysis', 'context'],
  ...['senderhistory', 'senderprofile', 'userprofile', 'userhistory', 'profile', 'gateway', 'risk'],
  ...['userconfirmation', 'confirmation', 'verification', 'usercontext', 'assetcontext'],
  ...['hostcontext', 'identitycontext', 'businesscontext', 'sendercontext', 'orgcontext'],
  ...['agent', 'observer', 'cloud', 'orchestrator', 'container', 'rule', 'server', 'organization'],
  ...['win', 'eventdata', 'system', 'outputfields', 'evidence', 'imagefile', 'filedetails'],
  ...['parentprocessimagefile', 'useraccount', 'useridentity', 'resource', 'service'],
  ...['additionalinfo', 'accesskeydetails', 'awsapicallaction', 'remoteipdetails'],
  ...['sessioncontext', 'sessionissuer', 'responseelements', 'additionaleventdata'],
  ...['responsestatus', 'logon', 'compliance'],
  ...['networklocationdetails', 'appliedconditionalaccesspolicies', 'initiatedby'],
  // Who and what it is about, and what the company has on record of it.
  ...['user', 'account', 'actor', 'principal', 'identity', 'target', 'mailbox', 'directory'],
  ...['approval', 'review', 'drill', 'exercise', 'simulation', 'schedule', 'scanjob', 'job'],
  ...['backupjob', 'deployment', 'commit', 'runner', 'pipeline', 'itsm', 'erp', 'crm', 'ticket'],
  ...[
    'rollout',
    'pim',
    'plan',
    'engagement',
    'campaign',
    'awarenesscampaign',
    'servicedesk',
    'release',
  ],
  ...['calendar', 'hr', 'travel', 'booking', 'purchaseorder', 'order', 'initiatedfrom', 'posture'],
];

const INVENTORIES = ['asset', 'assets', 'srcasset', 'sourceasset', 'inventory', 'cmdb'];

/** What a department notes: `accounts_payable_note`, `hr_record`, `service_desk_case`. */
const BUSINESS_RECORD =
  '(?:accountspayable|ap|erp|crm|hr|itsm|cmdb|soc|servicedesk|helpdesk|asset|travel|calendar|finance|procurement|legal|facility|badge|mdm|vendor|supplier|change|patch|backup|scan|maintenance|engagement)(?:note|notes|record|records|entry|case|check|context|status)/';

const oneOf = (names: readonly string[]): string => `(?:${names.join('|')})/`;
/** An inventory lists machines by their addresses, the only names with these signs. */
const ADDRESS = '[^/.:]*[.:][^/]*/';
const OUTER = `(?:${oneOf(ENVELOPES)})*`;
const OWN_PLACE = new RegExp(
  `^${OUTER}(?:${[
    `(?:${oneOf(MAILS)})?(?:${oneOf(SENDER_CHECKS)})+`,
    `(?:${oneOf(OWN)})*`,
    `(?:${BUSINESS_RECORD})`,
    `${oneOf(INVENTORIES)}(?:${ADDRESS})?`,
  ].join('|')})[^/]*$`,
);
const MAIL_PLACE = new RegExp(`^${OUTER}${oneOf([...MAILS, 'original'])}[^/]*$`);

/** What decides, for who compares one state of the rules with another. */
export const OWN_PLACES = OWN_PLACE.source;

/** Whether only a tool writes there: names in small letters and digits, from the root to the value, with `/` in between. */
export function isOwnPlace(path: string): boolean {
  let answer = known.get(path);
  if (answer === undefined) {
    answer = OWN_PLACE.test(path);
    if (known.size >= MOST_KNOWN) known.clear();
    if (path.length <= LONGEST_KNOWN) known.set(path, answer);
  }
  return answer;
}

/** Tools use the same places in each event. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 4_000;
const LONGEST_KNOWN = 160;

/** As `isOwnPlace`, of a JSON pointer. Places in lists are no names. */
export function isOwnPointer(pointer: string): boolean {
  const names = (parsePointer(pointer) ?? ['']).filter((step) => !/^\d+$/.test(step));
  return isOwnPlace(names.map((name) => name.split('.').map(plainName).join('/') || '_').join('/'));
}

/** Whether a tool says that the object around a value is a mail. */
export function isInMail(path: string): boolean {
  return MAIL_PLACE.test(path);
}
