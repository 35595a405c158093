import type { Severity } from '../../incidents/incident.js';
import type { Alert, EventFormat, SaidSeverity } from '../reading/alert.js';
import { type KnownIncidentType, type Translations, knownType } from '../reading/incident-type.js';
import {
  type Json,
  isList,
  isObject,
  member,
  memberAt,
  numberOf,
  textOf,
} from '../reading/json.js';
import { fieldsIn, firstOf, headline, levelledSeverityIn, textIn } from './event-text.js';

/**
 * A finding of the Open Cybersecurity Schema Framework 1.x, as security lakes and newer tools send it. One event each.
 * https://schema.ocsf.io/1.5.0/classes/detection_finding, https://schema.ocsf.io/1.5.0/objects/finding_info
 */
export const ocsf: EventFormat = {
  name: 'ocsf',

  read(event: Json): Alert | undefined {
    const usualType = CLASSES.get(numberOf(member(event, 'class_uid')) ?? 0);
    const finding = member(event, 'finding_info');
    const eventId = textIn(finding, 'uid');
    const title = textIn(finding, 'title');
    if (usualType === undefined || (eventId ?? title) === undefined) return undefined;
    return {
      event,
      eventId,
      title: headline(
        title ?? textIn(event, 'message') ?? textIn(member(finding, 'analytic'), 'name') ?? eventId,
        undefined,
        hostIn(event),
        userIn(event),
      ),
      type: typeIn(event),
      mappedWords: [title, textIn(member(finding, 'analytic'), 'name'), ...typesIn(event)],
      usualType,
      severity: severityIn(event),
      lift: {
        ...fieldsIn(finding, { description: ['desc'], link: ['src_url'] }),
        ...fieldsIn(member(finding, 'analytic'), { rule: ['name', 'uid'] }),
        ...evidenceFields(firstOf(member(event, 'evidences'))),
        ...(deviceIn(event) && { host: deviceIn(event)! }),
        ...(userIn(event) && { user: userIn(event)! }),
      },
    };
  },
};

/** Detection Finding; and Data Security Finding, which is the same for tools that watch over data. */
const CLASSES: ReadonlyMap<number, KnownIncidentType> = new Map([
  [2004, 'other'],
  [2006, 'policy_violation'],
]);

const TYPES: Translations = new Map([
  ['exfiltration', 'data_exfiltration'],
  ['dataencryptedforimpact', 'ransomware'],
]);

const MOST_TYPES = 20;

/** AWS writes `Effects/Data Exfiltration`: each part may be the word. */
function typeIn(event: Json): KnownIncidentType | undefined {
  const words = typesIn(event).flatMap((type) => type.split('/', MOST_TYPES));
  const known = words.map((word) => knownType(word, TYPES)).find((type) => type !== undefined);
  return known ?? (namesMalware(event) ? 'malware' : undefined);
}

function typesIn(event: Json): string[] {
  const types = memberAt(event, 'finding_info', 'types');
  return (isList(types) ? types.slice(0, MOST_TYPES) : [types]).map((type) => textOf(type) ?? '');
}

function namesMalware(event: Json): boolean {
  return isObject(firstOf(member(event, 'malware')));
}

const LEVELS: readonly Severity[] = ['low', 'low', 'medium', 'high', 'critical', 'critical'];

/** The number is the same everywhere; the word beside it is the sender's own, and all there is when the number is 99. */
function severityIn(event: Json): SaidSeverity | undefined {
  return levelledSeverityIn(event, 'severity', 'severity_id', (number) => LEVELS[number - 1]);
}

function evidenceFields(evidence: Json | undefined): Readonly<Record<string, string>> {
  const file = member(evidence, 'file') ?? memberAt(evidence, 'process', 'file');
  return {
    ...fieldsIn(member(evidence, 'src_endpoint'), { ip: ['ip'], domain: ['domain'] }),
    ...fieldsIn(member(evidence, 'url'), { url: ['url_string'] }),
    ...fieldsIn(member(evidence, 'process'), { process: ['cmd_line', 'name'] }),
    ...fieldsIn(file, { file: ['path', 'name'] }),
    ...fieldsIn(firstOf(member(file, 'hashes')), { hash: ['value'] }),
  };
}

const HOST = ['hostname', 'name', 'ip', 'uid'];

function deviceIn(event: Json): string | undefined {
  const evidence = firstOf(member(event, 'evidences'));
  return textIn(member(event, 'device'), ...HOST) ?? textIn(member(evidence, 'device'), ...HOST);
}

function hostIn(event: Json): string | undefined {
  return deviceIn(event) ?? textIn(firstOf(member(event, 'resources')), ...HOST);
}

function userIn(event: Json): string | undefined {
  const evidence = firstOf(member(event, 'evidences'));
  return [event, evidence]
    .map((part) => memberAt(part, 'actor', 'user'))
    .filter(isObject)
    .map((user) => textIn(user, 'name', 'email_addr', 'uid'))
    .find((name) => name !== undefined);
}
