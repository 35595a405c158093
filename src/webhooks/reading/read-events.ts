import { hash } from 'node:crypto';
import { type NewIncident, severityRises } from '../../incidents/incident.js';
import { fieldsFrom, type IncidentFields } from '../../incidents/incident-fields.js';
import { incidentTitle, titleOfTool } from '../../incidents/title-rules.js';
import { shownStart } from '../../platform/text.js';
import { readAs } from '../formats/formats.js';
import { countByMapping, FIRST_PART, type Part, readByMapping } from '../mapping/mapping-rules.js';
import type { EventFormatName, ReadingRules, WebhookSource } from '../sources/webhook-source.js';
import type { Alert } from './alert.js';
import { typeOf } from './incident-type.js';
import { isObject, type Json, type JsonObject, textOf } from './json.js';
import { severityOf } from './severity.js';

/** One event of a body, with the incident that it makes when it was not seen before. */
export interface ReadEvent {
  readonly incident: NewIncident;
  /** SHA-256 of the sender's id of the event, or of its content when it has none. */
  readonly key: Buffer;
  /** SHA-256 of what the event says. */
  readonly contentHash: Buffer;
  /** The sender's id, if there is one. */
  readonly eventId?: string;
  /** The sender's word for the severity, when nobody knows what it means. */
  readonly unknownSeverity?: string;
}

/** The longest unknown severity word in the timeline. */
const LONGEST_WORD = 100;

type Rules = ReadingRules & Pick<WebhookSource, 'source' | 'autoTriage' | 'playbook'>;

/** The number of events in a body, whatever they say. Only a mapping finds several. */
export function countEvents({ format, mapping }: ReadingRules, body: Json): number {
  return format === 'mapping' && mapping ? countByMapping(mapping, body) : 1;
}

/** Events of a body, without a part the first ones, or why it has none, for the sender and for the analyst. */
export function readEvents(rules: Rules, body: Json, part = FIRST_PART): ReadEvent[] | Unfit {
  const alerts = alertsOf(rules, body, part);
  if (!alerts) return { why: unfitWords(rules.format) };
  return alerts.map((alert) => readEvent(rules, alert));
}

export interface Unfit {
  readonly why: string;
}

export function isUnfit(read: readonly ReadEvent[] | Unfit): read is Unfit {
  return 'why' in read;
}

function unfitWords(format: EventFormatName): string {
  if (format === 'auto') return 'The body fits no known format.';
  if (format === 'mapping') return "The source's mapping finds no event in the body.";
  return `The body does not look like ${format}.`;
}

function alertsOf({ format, mapping }: Rules, body: Json, part: Part): Alert[] | undefined {
  if (format === 'mapping') return mapping && readByMapping(mapping, body, part);
  const alert = readAs(format, body);
  return alert && [alert];
}

function readEvent(rules: Rules, alert: Alert): ReadEvent {
  const { source, autoTriage, playbook } = rules;
  const { severity: said, unknownWord } = severityOf(alert.severity, rules.severityMapping);
  const { minSeverity = said } = rules;
  const severity = severityRises(said, minSeverity) ? minSeverity : said;
  const incidentType = typeOf(alert, rules);
  const rawData = rawDataOf(alert);
  const fields = fieldsOf(alert);
  const told = { ...withoutMapped(rawData, rules), ...fields };
  const title =
    (alert.title && titleOfTool(incidentType, alert.title, told)) ??
    incidentTitle(incidentType, told, source);
  const event = JSON.stringify(alert.event);
  // A severity may stand in what the events of a body share: when it changes, the event has another content.
  const content = alert.severity ? `${event} ${JSON.stringify(alert.severity)}` : event;
  return {
    incident: {
      incidentType,
      severity,
      source,
      title,
      rawData: rawData === alert.event ? event : JSON.stringify(rawData),
      fields,
      triage: autoTriage ? { playbook } : undefined,
    },
    key: sha256(alert.eventId === undefined ? `content ${content}` : `id ${alert.eventId}`),
    contentHash: sha256(content),
    eventId: alert.eventId,
    unknownSeverity: unknownWord && shownStart(unknownWord, LONGEST_WORD),
  };
}

/** The event as it came. An event that is no object is put into one. */
function rawDataOf({ event }: Alert): JsonObject {
  return isObject(event) ? event : { event };
}

/** What a mapping has a place for is there or nowhere: a key of the same name, such as the bounce address in `sender`, is something else. */
function withoutMapped(rawData: JsonObject, { mapping }: Rules): JsonObject {
  const lift = mapping?.lift ?? {};
  return Object.fromEntries(Object.entries(rawData).filter(([key]) => !Object.hasOwn(lift, key)));
}

function fieldsOf({ eventId, lift = {} }: Alert): IncidentFields {
  const values = Object.entries({ event_id: eventId, ...lift });
  return fieldsFrom(values.map(([key, value]) => [key, textOf(value) ?? value]));
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
