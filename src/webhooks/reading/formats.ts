import { createHash } from 'node:crypto';
import type { Severity } from '../../incidents/incident.js';
import type { EventFormatName } from '../sources/webhook-source.entity.js';
import {
  fieldsIn,
  firstOf,
  headline,
  mailFields,
  quoted,
  sentBetween,
  severityIn,
  textIn,
  valueAt,
  wordIn,
} from './event-text.js';
import { isObject, type Json, type JsonObject, member, numberOf, textOf } from './json.js';
import { type Alert, knownType, type Translations } from './words.js';

type FormatName = Exclude<EventFormatName, 'auto' | 'mapping'>;

/** Reads an event of a format. Returns `undefined` if fields that identify the format are absent. */
type Format = (event: Json) => Omit<Alert, 'event'> | undefined;

/** Format of this service, for tools whose body can be chosen. */
const generic: Format = (event) => {
  const eventType = wordIn(event, 'event_type');
  const data = member(event, 'data');
  const details = member(data, 'details');
  const eventId = textOf(member(data, 'alert_id'));
  const severity = textOf(member(data, 'severity'));
  // Other tools also send `event_type` and `data`.
  if (eventType === undefined || ((eventId ?? severity) === undefined && !isObject(details))) {
    return undefined;
  }
  const mail = mailFields(details);
  const said = (names: string) => textIn(details, names) ?? textIn(data, names);
  return {
    eventId,
    title: headline(
      said('title rule_name rule name') ?? eventType.replaceAll('_', ' '),
      quoted(said('subject')) ?? said('file_name filename file message description'),
      said('host hostname device ip source_ip src_ip'),
      said('user username user_name account'),
      ...sentBetween(mail),
    ),
    type: knownType(eventType),
    mappedWords: [eventType, said('rule rule_name')],
    usualType: 'other',
    severity: severity === undefined ? undefined : { said: severity },
    lift: {
      ...fieldsIn(data, GENERIC_FIELDS),
      ...fieldsIn(details, GENERIC_FIELDS),
      // Other events may have a subject, too.
      ...(mail.message_id || mail.sender ? mail : {}),
    },
  };
};

const GENERIC_FIELDS = {
  host: 'host hostname host_name device computer',
  user: 'user username user_name account',
  ip: 'ip source_ip src_ip remote_ip',
  domain: 'domain',
  url: 'url',
  file: 'file file_name filename file_path',
  hash: 'hash sha256 file_hash sha1 md5',
  process: 'process command_line',
  outcome: 'outcome result',
  rule: 'rule rule_name',
  description: 'description message',
  link: 'link',
};

/** Alert of Microsoft Defender for Office 365, as relays forward it, with the mail in `data`. */
const emailAlert: Format = (event) => {
  const eventType = wordIn(event, 'eventType');
  const category = wordIn(event, 'category');
  const mark = category ?? wordIn(event, 'entityType') ?? wordIn(event, 'creationTime');
  if (eventType === undefined || mark === undefined) return undefined;
  const data = member(event, 'data');
  const mail = mailFields(data);
  if (Object.keys(mail).length === 0) return undefined;
  return {
    eventId: textOf(member(event, 'id')),
    title: headline(category ?? eventType, quoted(mail.subject), ...sentBetween(mail)),
    type: knownType(category, MAIL_CATEGORIES) ?? knownType(eventType, MAIL_CATEGORIES),
    mappedWords: [category, eventType],
    usualType: 'phishing',
    severity: severityIn(event, 'severity'),
    lift: { ...fieldsIn(data, { url: 'url urls Url' }), ...mail },
  };
};

/**
 * Categories of https://learn.microsoft.com/en-us/defender-office-365/alert-policies-defender-portal, without stages of an attack such as
 * InitialAccess.
 */
const MAIL_CATEGORIES: Translations = new Map([
  ['phish', 'phishing'],
  ['highconfidencephish', 'phishing'],
  ['highconfphish', 'phishing'],
  ['spearphishing', 'phishing'],
  ['highconfidencespam', 'spam'],
  ['bulk', 'spam'],
  ['businessemailcompromise', 'bec'],
  ['exfiltration', 'data_exfiltration'],
  ['datalossprevention', 'policy_violation'],
]);

/**
 * Detection of the CrowdStrike Falcon event streams, in the old fields (DetectionSummaryEvent) and the new ones (EppDetectionSummaryEvent).
 * Other events of the stream, such as console logins, are no alerts.
 * https://www.elastic.co/docs/reference/beats/filebeat/exported-fields-crowdstrike
 * https://github.com/elastic/integrations/tree/main/packages/crowdstrike/data_stream/falcon/_dev/test/pipeline
 */
const endpointAlert: Format = (event) => {
  const stream = wordIn(member(event, 'metadata'), 'eventType');
  if (stream === undefined) return undefined;
  const detection = member(event, 'event');
  const eventId = textIn(detection, 'DetectId CompositeId IdentityProtectionIncidentId');
  const name = textIn(detection, 'DetectName DisplayName Name IncidentType');
  const severity = severityIn(detection, 'SeverityName', 'Severity', falconLevel);
  if (eventId === undefined && (name === undefined || severity === undefined)) return undefined;
  const [technique, tactic] = [textIn(detection, 'Technique'), textIn(detection, 'Tactic')];
  return {
    eventId,
    title: headline(
      name ?? stream,
      textIn(detection, 'FileName Filename'),
      textIn(detection, FALCON_FIELDS.host),
      textIn(detection, FALCON_FIELDS.user),
    ),
    type: knownType(technique, LAST_STAGES) ?? knownType(tactic, LAST_STAGES),
    mappedWords: [name, tactic, technique],
    usualType: FALCON_STREAMS.get(stream.toLowerCase()) ?? 'malware',
    severity,
    lift: fieldsIn(detection, FALCON_FIELDS),
  };
};

const FALCON_FIELDS = {
  host: 'HostnameField Hostname ComputerName SourceEndpointHostName EndpointName HostNames',
  user: 'UserName SourceAccountName',
  // A sign-in has the address that it came from. Other streams have only addresses of the machine.
  ip: 'SourceEndpointIpAddress SourceEndpointAddressIP4',
  file: 'FileName Filename FilePath',
  hash: 'SHA256String SHA256HashData SHA1String MD5String',
  process: 'CommandLine',
  rule: 'Technique Tactic',
  description: 'DetectDescription Description',
  link: 'FalconHostLink',
};

/** Stages of an attack that tell the type. */
const LAST_STAGES: Translations = new Map([
  ['dataencryptedforimpact', 'ransomware'],
  ['exfiltration', 'data_exfiltration'],
]);

/** Streams that are not about malware. The vendor writes Epp and EPP. */
const FALCON_STREAMS: Translations = new Map([
  ['idpdetectionsummaryevent', 'suspicious_login'],
  ['identityprotectionevent', 'suspicious_login'],
  ['dataprotectiondetectionsummaryevent', 'data_exfiltration'],
]);

/** Integers from 1 to 5 belong to the old scale, other numbers to the scale from 0 to 100. */
function falconLevel(number: number): Severity | undefined {
  const old = (['low', 'low', 'medium', 'high', 'critical'] as const)[number - 1];
  if (old || number < 0 || number > 100) return old;
  if (number >= 80) return 'critical';
  if (number >= 60) return 'high';
  return number >= 40 ? 'medium' : 'low';
}

/**
 * Alert of a Splunk search: from the webhook action of Splunk (`sid`, `results_link`), or from an own alert action (`search_name`). `result`
 * is the first row that the search found, with names of the Common Information Model.
 * https://docs.splunk.com/Documentation/Splunk/latest/Alert/Webhooks, https://docs.splunk.com/Documentation/CIM/latest/User/Overview
 */
const logAlert: Format = (event) => {
  const result = member(event, 'result');
  const searchId = wordIn(event, 'sid');
  const searchName = wordIn(event, 'search_name');
  if (!isObject(result) || (searchId ?? searchName) === undefined) return undefined;
  const types = [textOf(member(result, 'incident_type')), textOf(member(result, 'category'))];
  return {
    // A search that sends each row sends all of them with the same sid.
    eventId: searchId === undefined ? undefined : `${searchId}:${hashOf(result)}`,
    title: headline(
      searchName ?? textIn(result, 'rule_name sourcetype source') ?? 'Search',
      textIn(result, 'signature EventCode'),
      textIn(result, SPLUNK_FIELDS.host),
      textIn(result, 'user src_user src'),
    ),
    type: types.map((word) => knownType(word)).find(Boolean),
    mappedWords: [...types, searchName, textIn(result, 'rule_name signature')],
    usualType: 'other',
    // Urgency combines severity with the importance of the asset.
    severity: severityIn(result, 'urgency severity'),
    lift: { ...fieldsIn(result, SPLUNK_FIELDS), ...fieldsIn(event, { link: 'results_link' }) },
  };
};

const SPLUNK_FIELDS = {
  // `host` is often the machine that forwarded the log.
  host: 'dest dvc host',
  user: 'user src_user',
  ip: 'src_ip src',
  url: 'url',
  file: 'file_path file_name',
  hash: 'file_hash',
  process: 'process',
  sender: 'src_user_email',
  outcome: 'action',
  rule: 'rule_name signature',
};

/** The order of keys does not change the hash. */
function hashOf(result: JsonObject): string {
  const sorted = JSON.stringify(result, (_, value: Json) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(sorted).digest('hex');
}

/**
 * Finding of the Open Cybersecurity Schema Framework 1.x.
 * https://schema.ocsf.io/1.5.0/classes/detection_finding, https://schema.ocsf.io/1.5.0/objects/finding_info
 */
const ocsf: Format = (event) => {
  const usualType = OCSF_CLASSES[numberOf(member(event, 'class_uid')) ?? 0];
  if (usualType === undefined) return undefined;
  const eventId = textIn(event, 'finding_info.uid');
  const title = textIn(event, 'finding_info.title');
  if ((eventId ?? title) === undefined) return undefined;
  const rule = textIn(event, 'finding_info.analytic.name');
  const fields = fieldsIn(event, OCSF_FIELDS);
  const resource = 'resources.hostname resources.name resources.ip resources.uid';
  const types = [valueAt(event, 'finding_info.types') ?? ''].flat().slice(0, MOST_TYPES);
  const words = types.map((type) => textOf(type) ?? '');
  const isMalware = isObject(firstOf(valueAt(event, 'malware')));
  return {
    eventId,
    title: headline(
      title ?? textIn(event, 'message') ?? rule ?? eventId,
      undefined,
      fields.host ?? textIn(event, resource),
      fields.user,
    ),
    type:
      // AWS writes `Effects/Data Exfiltration`.
      words
        .flatMap((word) => word.split('/', MOST_TYPES))
        .map((word) => knownType(word, LAST_STAGES))
        .find(Boolean) ?? (isMalware ? 'malware' : undefined),
    mappedWords: [title, rule, ...words],
    usualType,
    // The number has one scale. The word is that of the sender, and the only severity if the number is 99.
    severity: severityIn(event, 'severity', 'severity_id', (id) => OCSF_LEVELS[id - 1]),
    lift: fields,
  };
};

const MOST_TYPES = 20;
/** Detection Finding, and Data Security Finding. */
const OCSF_CLASSES: Readonly<Record<number, string>> = { 2004: 'other', 2006: 'policy_violation' };
const OCSF_LEVELS: readonly Severity[] = ['low', 'low', 'medium', 'high', 'critical', 'critical'];
const OCSF_FIELDS = {
  description: 'finding_info.desc',
  link: 'finding_info.src_url',
  rule: 'finding_info.analytic.name finding_info.analytic.uid',
  ip: 'evidences.src_endpoint.ip',
  domain: 'evidences.src_endpoint.domain',
  url: 'evidences.url.url_string',
  process: 'evidences.process.cmd_line evidences.process.name',
  file: 'evidences.file.path evidences.file.name evidences.process.file.path evidences.process.file.name',
  hash: 'evidences.file.hashes.value evidences.process.file.hashes.value',
  host: ['device', 'evidences.device']
    .flatMap((device) => ['hostname', 'name', 'ip', 'uid'].map((name) => `${device}.${name}`))
    .join(' '),
  user: ['actor.user', 'evidences.actor.user']
    .flatMap((user) => ['name', 'email_addr', 'uid'].map((name) => `${user}.${name}`))
    .join(' '),
};

export const FORMATS: Readonly<Record<FormatName, Format>> = {
  generic,
  email_alert: emailAlert,
  endpoint_alert: endpointAlert,
  log_alert: logAlert,
  ocsf,
};

/** Reads the event. Returns `undefined` if it does not fit, or for `auto`, if it fits no format or several. */
export function readAs(format: FormatName | 'auto', event: Json): Alert | undefined {
  const formats = format === 'auto' ? Object.values(FORMATS) : [FORMATS[format]];
  const [alert, ...others] = formats.flatMap((read) => read(event) ?? []);
  return alert && others.length === 0 ? { event, ...alert } : undefined;
}
