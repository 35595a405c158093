import { hash } from 'node:crypto';
import { fieldsFrom, type RawData } from '../../incidents/incident-fields.js';
import { type NewIncident, type Severity, severityRises } from '../../incidents/incident.js';
import { incidentTitle, titleOfTool } from '../../incidents/titles.js';
import type { EventFormatName, ReadingRules } from '../sources/webhook-source.entity.js';
import { readAs } from './formats.js';
import { isList, isObject, type Json, saysSomething } from './event-json.js';
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

export interface ReadEvent {
  /** Incident that the event would create. If the alert has ended, its severity is the minimum of the source. */
  readonly incident: NewIncident;
  /** Severity of the event itself. */
  readonly severity: Severity;
  /** SHA-256 of the sender's event id. If there is no event id, SHA-256 of the content. */
  readonly key: Buffer;
  readonly contentHash: Buffer;
  readonly eventId?: string;
  readonly overWord?: string;
  readonly unknownSeverity?: string;
}

/** Parsed body. Its events are read in parts of MOST_EVENTS. */
export interface OpenBody {
  readonly count: number;
  /** True for the page of a poller without news: it can be read and has no events. */
  readonly isEmpty: boolean;
  /** Returns the events of a part, or why the body cannot be read. */
  read(from?: number): ReadEvent[] | string;
}

const UNFIT: Partial<Record<EventFormatName, string>> = {
  auto: 'The body fits no known format.',
  mapping: "The source's mapping finds no event in the body.",
};

export function openBody(rules: ReadingRules, body: Json): OpenBody {
  const { format } = rules;
  const mapping = rules.mapping ?? {};
  const isMapped = format === 'mapping';
  const members = isList(body) ? body.filter(saysSomething) : [body];
  const events = isMapped ? eventsOf(mapping, body) : members.map((event) => ({ event, body }));
  const alertOf = isMapped
    ? alertReader(mapping)
    : ({ event }: Found) => readAs(format, event) ?? { event, usualType: 'other' };
  const alertsIn = (from = 0): Alert[] | undefined => {
    const alerts = events.slice(from, from + MOST_EVENTS).map(alertOf);
    // Only the first part decides if the body fits the format. Unfitting events of later parts are kept: they may matter.
    return from > 0 || alerts.some(isTold) ? alerts : undefined;
  };
  const unfit = UNFIT[format] ?? `The body does not look like ${format}.`;
  // A page of results has no title, severity, id or type, unlike an event: the body is empty only without an alert.
  const isPage = () => isMapped && isEmptyByMapping(mapping, body) && !alertsIn();
  if (members.length === 0 || isPage()) return { count: 0, isEmpty: true, read: () => [] };
  return {
    count: events.length,
    isEmpty: false,
    read: (from) => alertsIn(from)?.map((alert) => readEvent(rules, alert)) ?? unfit,
  };
}

function readEvent(rules: ReadingRules, alert: Alert): ReadEvent {
  const { event, eventId, lift } = alert;
  const { severity: said, unknownWord } = severityOf(alert.severity, rules.severity_mapping);
  const { source, format, mapping, min_severity: least = 'low' } = rules;
  const incident_type = typeOf(alert, rules);
  const rawData = isObject(event) ? event : { event };
  const fields = fieldsFrom(Object.entries({ event_id: eventId, ...lift }));
  // Hides these keys from titles: in raw data, their meaning may differ, such as a bounce address in `sender`.
  const lifted = Object.keys(mapping?.lift ?? {}).map((key) => [key, undefined]);
  const told = { ...rawData, ...Object.fromEntries(lifted), ...fields } as RawData;
  const title =
    // A title such as `malware` says no more than the type.
    knownType(alert.title) === incident_type
      ? incidentTitle(incident_type, fields, source)
      : ((alert.title && titleOfTool(incident_type, alert.title, told)) ??
        incidentTitle(incident_type, told, source));
  const json = JSON.stringify(event);
  // The severity may come from a part of the body outside the event.
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

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');
