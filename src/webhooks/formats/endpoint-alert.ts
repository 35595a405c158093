import type { Severity } from '../../incidents/incident.js';
import type { Alert, EventFormat, SaidSeverity } from '../reading/alert.js';
import { type KnownIncidentType, type Translations, knownType } from '../reading/incident-type.js';
import { type Json, member } from '../reading/json.js';
import { type NumberRange, isWithin } from '../reading/severity.js';
import { fieldsIn, headline, levelledSeverityIn, textIn, wordIn } from './event-text.js';

const HOST = [
  'HostnameField',
  'Hostname',
  'ComputerName',
  'SourceEndpointHostName',
  'EndpointName',
  'HostNames',
];
const USER = ['UserName', 'SourceAccountName'];
const NAME = ['DetectName', 'DisplayName', 'Name', 'IncidentType'];
const FIELDS = {
  host: HOST,
  user: USER,
  // Of a machine the stream has only its own addresses; of a sign-in the one that it came from.
  ip: ['SourceEndpointIpAddress', 'SourceEndpointAddressIP4'],
  file: ['FileName', 'Filename', 'FilePath'],
  hash: ['SHA256String', 'SHA256HashData', 'SHA1String', 'MD5String'],
  process: ['CommandLine'],
  rule: ['Technique', 'Tactic'],
  description: ['DetectDescription', 'Description'],
  link: ['FalconHostLink'],
} as const;
const ID = ['DetectId', 'CompositeId', 'IdentityProtectionIncidentId'];

/** Tactics and techniques that tell the type. Those of an attack's other stages do not. */
const TACTICS: Translations = new Map([
  ['dataencryptedforimpact', 'ransomware'],
  ['exfiltration', 'data_exfiltration'],
]);

/** Streams of the vendor that are not about malware, in small letters: the vendor writes Epp and EPP. */
const USUAL_TYPES: ReadonlyMap<string, KnownIncidentType> = new Map([
  ['idpdetectionsummaryevent', 'suspicious_login'],
  ['identityprotectionevent', 'suspicious_login'],
  ['dataprotectiondetectionsummaryevent', 'data_exfiltration'],
]);

/**
 * A detection of the CrowdStrike Falcon event streams, in the old words (DetectionSummaryEvent) and the new ones
 * (EppDetectionSummaryEvent and the like). The other events of the stream, such as who logged in to the console, are no alerts.
 * Their fields: https://www.elastic.co/docs/reference/beats/filebeat/exported-fields-crowdstrike and, for the new ones,
 * https://github.com/elastic/integrations/tree/main/packages/crowdstrike/data_stream/falcon/_dev/test/pipeline
 */
export const endpointAlert: EventFormat = {
  name: 'endpoint_alert',

  read(event: Json): Alert | undefined {
    const stream = wordIn(member(event, 'metadata'), 'eventType');
    const detection = member(event, 'event');
    const eventId = textIn(detection, ...ID);
    const name = textIn(detection, ...NAME);
    const severity = severityIn(detection);
    const isDetection = eventId !== undefined || (name !== undefined && severity !== undefined);
    if (stream === undefined || !isDetection) return undefined;
    return {
      event,
      eventId,
      title: headline(
        name ?? stream,
        textIn(detection, 'FileName', 'Filename'),
        textIn(detection, ...HOST),
        textIn(detection, ...USER),
      ),
      type: typeIn(detection),
      mappedWords: [name, textIn(detection, 'Tactic'), textIn(detection, 'Technique')],
      usualType: USUAL_TYPES.get(stream.toLowerCase()) ?? 'malware',
      severity,
      lift: fieldsIn(detection, FIELDS),
    };
  },
};

function typeIn(detection: Json | undefined): KnownIncidentType | undefined {
  return (
    knownType(textIn(detection, 'Technique'), TACTICS) ??
    knownType(textIn(detection, 'Tactic'), TACTICS)
  );
}

/** The word is the same on both scales of the vendor, the number is not. */
function severityIn(detection: Json | undefined): SaidSeverity | undefined {
  return levelledSeverityIn(detection, 'SeverityName', 'Severity', levelOf);
}

const OLD_SCALE: readonly Severity[] = ['low', 'low', 'medium', 'high', 'critical'];
const NEW_SCALE: readonly (readonly [NumberRange, Severity])[] = [
  [{ from: 80, to: 100 }, 'critical'],
  [{ from: 60, to: 80 }, 'high'],
  [{ from: 40, to: 60 }, 'medium'],
  [{ from: 0, to: 40 }, 'low'],
];

/** Whole numbers from 1 to 5 are of the old scale; all others are of the one that ends at 100. */
function levelOf(number: number): Severity | undefined {
  const old = OLD_SCALE[number - 1];
  return old ?? NEW_SCALE.find(([range]) => isWithin(range, number))?.[1];
}
