import { hash } from 'node:crypto';
import { fieldsFrom, type IncidentFields } from '../../incidents/incident-fields.js';
import { type NewIncident, type Severity, severityRises } from '../../incidents/incident.js';
import { incidentTitle, titleOfTool } from '../../incidents/titles.js';
import { atOnce } from '../../platform/concurrency/semaphore.js';
import { shownStart } from '../../platform/text.js';
import type { EventFormatName, ReadingRules } from '../sources/webhook-source.entity.js';
import { readAs } from './formats.js';
import { isList, isObject, type Json, type JsonObject, saysSomething, textOf } from './json.js';
import {
  eventsOf,
  FIRST_PART,
  isEmptyByMapping,
  isFirst,
  type Part,
  readFound,
  readsIn,
} from './mapping.js';
import { overWordOf } from './news.js';
import { type Alert, severityOf, typeOf } from './words.js';

/** An event of a body, with the incident that it creates if it is new. */
export interface ReadEvent {
  readonly incident: NewIncident;
  /** SHA-256 of the id of the event at the sender, or of the content if there is no id. */
  readonly key: Buffer;
  /** SHA-256 of the content. */
  readonly contentHash: Buffer;
  readonly eventId?: string;
  /** Minimum severity of the source. */
  readonly minSeverity?: Severity;
  /** Word of the sender for the end of the alert, such as `resolved`. */
  readonly overWord?: string;
  /** Word of the sender for the severity, if its meaning is unknown. */
  readonly unknownSeverity?: string;
}

/** Maximum length of an unknown severity in the timeline. */
const LONGEST_WORD = 100;

/** A body whose events were found once for all of its parts. */
export interface OpenBody {
  /** The body has lists for events and none in them, like a page of a poller without news. */
  readonly isEmpty: boolean;
  readonly count: number;
  /** Returns the events of the part, or the reason why the body has none. The default is the first part. */
  read(part?: Part): ReadEvent[] | Unfit;
}

export function* openBody(rules: ReadingRules, body: Json): Generator<void, OpenBody> {
  const { format } = rules;
  const mapping = rules.mapping ?? {};
  const items = isList(body) ? body.filter(saysSomething) : [body];
  yield;
  const found = format === 'mapping' ? yield* eventsOf(mapping, body) : [];
  yield;
  const alertsIn = (part?: Part) =>
    format === 'mapping' ? readFound(mapping, found, part) : alertsOf(format, items, part);
  // An event with empty lists has a title or a severity, unlike a page of results.
  const isEmptyPage = format === 'mapping' && isEmptyByMapping(mapping, body) && !alertsIn();
  return {
    isEmpty: items.length === 0 || isEmptyPage,
    count: (format === 'mapping' ? found : items).length,
    read: (part) => {
      const alerts = alertsIn(part);
      return alerts?.map((alert) => readEvent(rules, alert)) ?? unfitWords(format);
    },
  };
}

export function readEvents(
  rules: ReadingRules,
  body: Json,
  part = FIRST_PART,
): ReadEvent[] | Unfit {
  return atOnce(openBody(rules, body)).read(part);
}

/** Returns the incident that the event creates. An alert that is over has the minimum severity of the source. */
export function incidentOf({ incident, overWord, minSeverity = 'low' }: ReadEvent): NewIncident {
  if (overWord === undefined) return incident;
  return { ...incident, severity: minSeverity, source_status: 'resolved' };
}

/** Reason why a body has no event, for the sender and the inbox. */
type Unfit = string;

export function isUnfit(read: readonly ReadEvent[] | Unfit): read is Unfit {
  return typeof read === 'string';
}

function unfitWords(format: EventFormatName): Unfit {
  if (format === 'auto') return 'The body fits no known format.';
  if (format === 'mapping') return "The source's mapping finds no event in the body.";
  return `The body does not look like ${format}.`;
}

/** An item that fits no format is an incident if another item fits, because it may be important. */
function alertsOf(
  format: Exclude<EventFormatName, 'mapping'>,
  items: readonly Json[],
  part = FIRST_PART,
): Alert[] | undefined {
  const events = items.slice(part.from, part.from + part.most);
  const alerts = events.map((event) => readAs(format, event));
  if (isFirst(part) && alerts.every((alert) => alert === undefined)) return undefined;
  return alerts.map((alert, at) => alert ?? { event: events[at]!, usualType: 'other' });
}

function readEvent(rules: ReadingRules, alert: Alert): ReadEvent {
  const { severity: said, unknownWord } = severityOf(alert.severity, rules.severity_mapping);
  const { source, min_severity: minSeverity = said } = rules;
  const severity = severityRises(said, minSeverity) ? minSeverity : said;
  const incidentType = typeOf(alert, rules);
  const rawData = isObject(alert.event) ? alert.event : { event: alert.event };
  const fields = fieldsOf(alert);
  const told = { ...withoutMapped(rawData, rules), ...fields };
  const title =
    (alert.title && titleOfTool(incidentType, alert.title, told)) ??
    incidentTitle(incidentType, told, source);
  const event = JSON.stringify(alert.event);
  // The severity may be in a part of the body that the events share.
  const content = alert.severity ? `${event} ${JSON.stringify(alert.severity)}` : event;
  return {
    incident: {
      incident_type: incidentType,
      severity,
      source,
      title,
      raw_data: rawData === alert.event ? event : JSON.stringify(rawData),
      fields,
      triage: rules.auto_triage ? { playbook: rules.playbook ?? undefined } : undefined,
    },
    key: sha256(alert.eventId === undefined ? `content ${content}` : `id ${alert.eventId}`),
    contentHash: sha256(content),
    eventId: alert.eventId,
    minSeverity: rules.min_severity,
    overWord: overWordOf(alert.event, event, holdsAlertBy(rules)),
    unknownSeverity: unknownWord && shownStart(unknownWord, LONGEST_WORD),
  };
}

/** A member that the mapping does not read may contain text of strangers. */
function holdsAlertBy({
  format,
  mapping,
}: ReadingRules): ((member: string) => boolean) | undefined {
  return format === 'mapping' && mapping ? (member) => readsIn(mapping, member) : undefined;
}

/** Leaves out keys with the name of a lifted field, such as a bounce address in `sender`: they mean something else. */
function withoutMapped(rawData: JsonObject, { mapping }: ReadingRules): JsonObject {
  const lift = mapping?.lift ?? {};
  // An event may have 40 000 keys, so it is copied only if necessary.
  if (!Object.keys(lift).some((key) => Object.hasOwn(rawData, key))) return rawData;
  return Object.fromEntries(Object.entries(rawData).filter(([key]) => !Object.hasOwn(lift, key)));
}

function fieldsOf({ eventId, lift = {} }: Alert): IncidentFields {
  const values = Object.entries({ event_id: eventId, ...lift });
  return fieldsFrom(values.map(([key, value]) => [key, textOf(value) ?? value]));
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
