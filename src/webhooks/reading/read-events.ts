import { hash } from 'node:crypto';
import { fieldsFrom } from '../../incidents/incident-fields.js';
import { type NewIncident, type Severity, severityRises } from '../../incidents/incident.js';
import { incidentTitle, titleOfTool } from '../../incidents/titles.js';
import type { SettlingProgress } from '../events/webhook-event.entity.js';
import type { EventFormatName, ReadingRules } from '../sources/webhook-source.entity.js';
import { readAs } from './formats.js';
import { isList, isObject, type Json, type JsonObject, saysSomething } from './event-json.js';
import {
  alertReader,
  eventsOf,
  type Found,
  isEmptyByMapping,
  isTold,
  MOST_EVENTS,
  readsIn,
} from './mapping.js';
import { overWordOf } from './news.js';
import { type Alert, knownType, severityOf, typeOf } from './words.js';

type Part = Pick<SettlingProgress, 'done' | 'most'>;

const FIRST_PART: Part = { done: 0, most: MOST_EVENTS };

export interface ReadEvent {
  /** The incident that the event creates. An alert that has ended gets the minimum severity of the source. */
  readonly incident: NewIncident;
  /** Severity of the event. */
  readonly severity: Severity;
  /** SHA-256 of the event id of the sender, or of the content if the event has no id. */
  readonly key: Buffer;
  readonly contentHash: Buffer;
  readonly eventId?: string;
  readonly overWord?: string;
  readonly unknownSeverity?: string;
}

/** A body whose events were found once, for all parts. */
export interface OpenBody {
  /** True for an empty page of a poller. */
  readonly isEmpty: boolean;
  readonly count: number;
  /** Returns the events of the part, or the reason why the body has no events. */
  read(part?: Part): ReadEvent[] | string;
}

const UNFIT: Partial<Record<EventFormatName, string>> = {
  auto: 'The body fits no known format.',
  mapping: "The source's mapping finds no event in the body.",
};

export function openBody(rules: ReadingRules, body: Json): OpenBody {
  const { format } = rules;
  const mapping = format === 'mapping' ? (rules.mapping ?? {}) : undefined;
  const members = isList(body) ? body.filter(saysSomething) : [body];
  const events = mapping ? eventsOf(mapping, body) : members.map((event) => ({ event, body }));
  const alertOf = mapping
    ? alertReader(mapping)
    : ({ event }: Found) => readAs(format as Formats, event) ?? { event, usualType: 'other' };
  const alertsIn = ({ done, most } = FIRST_PART): Alert[] | undefined => {
    const alerts = events.slice(done, done + most).map(alertOf);
    // Only the first part decides if the body fits. Beside events that fit, an event that does not fit may be important.
    const decides = done === 0 && most >= MOST_EVENTS;
    return !decides || alerts.some(isTold) ? alerts : undefined;
  };
  const unfit = UNFIT[format] ?? `The body does not look like ${format}.`;
  return {
    // An event whose lists are empty still has a title, a severity, an id or a type. A page of results has none of
    // these, so only a page of results counts as empty.
    isEmpty: members.length === 0 || (!!mapping && isEmptyByMapping(mapping, body) && !alertsIn()),
    count: events.length,
    read: (part) => alertsIn(part)?.map((alert) => readEvent(rules, alert)) ?? unfit,
  };
}

type Formats = Exclude<EventFormatName, 'mapping'>;

function readEvent(rules: ReadingRules, alert: Alert): ReadEvent {
  const { event, eventId, lift } = alert;
  const { severity: said, unknownWord } = severityOf(alert.severity, rules.severity_mapping);
  const { source, format, mapping, min_severity: least = 'low' } = rules;
  const incident_type = typeOf(alert, rules);
  const rawData = isObject(event) ? event : { event };
  const fields = fieldsFrom(Object.entries({ event_id: eventId, ...lift }));
  const told = { ...withoutMapped(rawData, rules), ...fields };
  const title =
    // A title such as `malware` adds nothing to the type.
    knownType(alert.title) === incident_type
      ? incidentTitle(incident_type, fields, source)
      : ((alert.title && titleOfTool(incident_type, alert.title, told)) ??
        incidentTitle(incident_type, told, source));
  const json = JSON.stringify(event);
  // The severity may be in a part of the body that several events share.
  const content = alert.severity ? `${json} ${alert.severity.said}` : json;
  // A member that the mapping does not read may contain text of strangers.
  const holdsAlert =
    format === 'mapping' && mapping ? (name: string) => readsIn(mapping, name) : undefined;
  const overWord = overWordOf(event, json, holdsAlert);
  const severity = severityRises(said, least) ? least : said;
  return {
    incident: {
      incident_type,
      severity: overWord === undefined ? severity : least,
      source,
      title,
      raw_data: isObject(event) ? json : JSON.stringify(rawData),
      fields,
      source_status: overWord === undefined ? undefined : 'resolved',
      triage: rules.auto_triage ? { playbook: rules.playbook ?? undefined } : undefined,
    },
    key: sha256(eventId === undefined ? `content ${content}` : `id ${eventId}`),
    contentHash: sha256(content),
    eventId,
    severity,
    overWord,
    unknownSeverity: unknownWord,
  };
}

/** Removes keys with the name of a lifted field, such as a bounce address in `sender`, because they have another meaning. */
function withoutMapped(rawData: JsonObject, { mapping }: ReadingRules): JsonObject {
  const lift = mapping?.lift ?? {};
  // Copies the event only if necessary, because an event may have 40 000 keys.
  if (!Object.keys(lift).some((key) => Object.hasOwn(rawData, key))) return rawData;
  return Object.fromEntries(Object.entries(rawData).filter(([key]) => !Object.hasOwn(lift, key)));
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
