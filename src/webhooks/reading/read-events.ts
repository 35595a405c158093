import { hash } from 'node:crypto';
import { type NewIncident, type Severity, severityRises } from '../../incidents/incident.js';
import { fieldsFrom, type IncidentFields } from '../../incidents/incident-fields.js';
import { incidentTitle, titleOfTool } from '../../incidents/titles.js';
import { atOnce } from '../../platform/concurrency/semaphore.js';
import { shownStart } from '../../platform/text.js';
import { readAs } from '../formats/formats.js';
import {
  eventsOf,
  FIRST_PART,
  isEmptyByMapping,
  isFirst,
  type Part,
  readFound,
  readsIn,
} from '../mapping/mapping-rules.js';
import { presetLike } from '../mapping/presets.js';
import type { EventFormatName, ReadingRules, WebhookSource } from '../sources/webhook-source.js';
import type { Alert } from './alert.js';
import { typeOf } from './incident-type.js';
import { isList, isObject, type Json, type JsonObject, saysSomething, textOf } from './json.js';
import { overWordOf } from './news.js';
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
  /** Minimum severity of the source. */
  readonly minSeverity?: Severity;
  /** The sender's word for an alert that is over, such as `resolved`. */
  readonly overWord?: string;
  /** The sender's word for the severity, when nobody knows what it means. */
  readonly unknownSeverity?: string;
}

/** The longest unknown severity word in the timeline. */
const LONGEST_WORD = 100;

type Rules = ReadingRules & Pick<WebhookSource, 'source' | 'preset' | 'autoTriage' | 'playbook'>;

/** A body, and the events in it. */
export interface OpenBody {
  /** What a poller gets when there is nothing new: lists for events, and none in them. */
  readonly isEmpty: boolean;
  /** The number of its events, whatever they say. */
  readonly count: number;
  /** Its events, without a part the first ones, or why it has none, for the sender and for the analyst. */
  read(part?: Part): ReadEvent[] | Unfit;
}

/** Finds the events of a body once for all of its parts. */
export function* openBody(rules: Rules, body: Json): Generator<void, OpenBody> {
  const { format, mapping } = rules;
  const says = !isList(body) || body.some(saysSomething);
  yield;
  if (format !== 'mapping') {
    const events = isList(body) ? body.filter(saysSomething) : [body];
    return opened(rules, body, !says, events.length, (part) =>
      isList(body) ? alertsOfList(format, events, part) : alertsOfOne(format, body),
    );
  }
  const found = mapping ? yield* eventsOf(mapping, body) : [];
  yield;
  // An event whose own lists are empty is an event: its title or its severity tells it from a page of results.
  const isEmpty =
    !says ||
    (mapping !== undefined && isEmptyByMapping(mapping, body) && !readFound(mapping, found));
  return opened(rules, body, isEmpty, found.length, (part) =>
    mapping ? readFound(mapping, found, part) : undefined,
  );
}

function opened(
  rules: Rules,
  body: Json,
  isEmpty: boolean,
  count: number,
  alertsIn: (part: Part) => Alert[] | undefined,
): OpenBody {
  return {
    isEmpty,
    count,
    read: (part = FIRST_PART) => {
      const alerts = alertsIn(part);
      if (!alerts) return { why: unfitWords(rules.format), hint: hintFor(rules, body) };
      return alerts.map((alert) => readEvent(rules, alert));
    },
  };
}

/** Events of a body: see OpenBody. */
export function readEvents(rules: Rules, body: Json, part = FIRST_PART): ReadEvent[] | Unfit {
  return atOnce(openBody(rules, body)).read(part);
}

/** The incident that an event makes. An alert that is over wakes nobody, unless the minimum severity of the source does. */
export function incidentOf({ incident, overWord, minSeverity = 'low' }: ReadEvent): NewIncident {
  if (overWord === undefined) return incident;
  return { ...incident, severity: minSeverity, source_status: 'resolved' };
}

export interface Unfit {
  readonly why: string;
  /** The preset that the body looks like, for who set up the source. */
  readonly hint?: string;
}

/** Nothing where the source has that preset: then the body is one of its tool that tells of no event. */
function hintFor({ preset }: Rules, body: Json): string | undefined {
  const like = presetLike(body);
  return like && like.name !== preset ? `This looks like ${like.name}.` : undefined;
}

/** Why there is no event, for the inbox. */
export function wordsOf({ why, hint }: Unfit): string {
  return hint === undefined ? why : `${why} ${hint}`;
}

export function isUnfit(read: readonly ReadEvent[] | Unfit): read is Unfit {
  return 'why' in read;
}

function unfitWords(format: EventFormatName): string {
  if (format === 'auto') return 'The body fits no known format.';
  if (format === 'mapping') return "The source's mapping finds no event in the body.";
  return `The body does not look like ${format}.`;
}

function alertsOfOne(format: Exclude<EventFormatName, 'mapping'>, body: Json): Alert[] | undefined {
  const alert = readAs(format, body);
  return alert && [alert];
}

/** What fits no format is an incident, too, beside an event that does: it may be the one that matters. */
function alertsOfList(
  format: Exclude<EventFormatName, 'mapping'>,
  all: readonly Json[],
  part: Part,
): Alert[] | undefined {
  const events = all.slice(part.from, part.from + part.most);
  const alerts = events.map((event) => readAs(format, event));
  if (isFirst(part) && alerts.every((alert) => alert === undefined)) return undefined;
  return alerts.map((alert, at) => alert ?? { event: events[at]!, usualType: 'other' });
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
      incident_type: incidentType,
      severity,
      source,
      title,
      raw_data: rawData === alert.event ? event : JSON.stringify(rawData),
      fields,
      triage: autoTriage ? { playbook } : undefined,
    },
    key: sha256(alert.eventId === undefined ? `content ${content}` : `id ${alert.eventId}`),
    contentHash: sha256(content),
    eventId: alert.eventId,
    minSeverity: rules.minSeverity,
    overWord: overWordOf(alert.event, event, holdsAlertBy(rules)),
    unknownSeverity: unknownWord && shownStart(unknownWord, LONGEST_WORD),
  };
}

/** Where a mapping reads no part of the alert, the sender may put what strangers wrote. */
function holdsAlertBy({ format, mapping }: Rules): ((member: string) => boolean) | undefined {
  return format === 'mapping' && mapping ? (member) => readsIn(mapping, member) : undefined;
}

/** The event as it came. An event that is no object is put into one. */
function rawDataOf({ event }: Alert): JsonObject {
  return isObject(event) ? event : { event };
}

/** What a mapping has a place for is there or nowhere: a key of the same name, such as the bounce address in `sender`, is something else. */
function withoutMapped(rawData: JsonObject, { mapping }: Rules): JsonObject {
  const lift = mapping?.lift ?? {};
  // An event may have 40 000 keys: they are copied only where one of them has to go.
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
