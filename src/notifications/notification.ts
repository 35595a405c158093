import { defang } from '../incidents/defang.js';
import type { Severity } from '../incidents/incident.js';
import { titleLine } from '../incidents/raw-data-text.js';
import { pascal } from '../platform/openapi/answers.js';
import { Field } from '../platform/validation/fields.js';
import { ACTION_EVENT_TYPES } from './messages/action.events.js';
import type { Alerts, EventDefinition, Words } from './messages/define-event.js';
import * as t from './messages/event-data.js';
import { INCIDENT_EVENT_TYPES } from './messages/incident.events.js';
import { SYSTEM_EVENT_TYPES } from './messages/system.events.js';

/** Events that channels send, in the order of the API. Each event has the name of its domain event. */
export const EVENT_TYPES = {
  ...INCIDENT_EVENT_TYPES,
  ...ACTION_EVENT_TYPES,
  ...SYSTEM_EVENT_TYPES,
};
export type EventName = keyof typeof EVENT_TYPES;

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENT_TYPES, name);
}

/** Event that a channel can select. Every channel also receives the events about other channels. */
export type NotifiedEvent = Exclude<EventName, `notification${string}`>;
export const NOTIFIED_EVENTS = Object.keys(EVENT_TYPES).filter(
  (name): name is NotifiedEvent => !name.startsWith('notification'),
);

export const EVENTS_FOR_PEOPLE = NOTIFIED_EVENTS.filter((name) => EVENT_TYPES[name].forPeople);

export type AnyEvent = {
  [Name in EventName]: {
    readonly id: string;
    readonly timestamp: string;
    readonly type: Name;
    readonly data: t.DataOf<(typeof EVENT_TYPES)[Name]['data']>;
  };
}[EventName];

export interface Message {
  readonly event: AnyEvent;
  readonly words: Words;
  readonly severity?: Severity;
}

const definitionOf = (name: EventName): EventDefinition<unknown> => EVENT_TYPES[name];

export function messageOf(type: EventName, source: t.SourceEvent): Message {
  const event = eventOf(type, source);
  const definition = definitionOf(type);
  const words = definition.words(event.data);
  const url = definition.hasNoPage ? undefined : t.pageUrl(source.public_url, event.data);
  return { event, severity: incidentIn(event)?.severity, words: { ...words, url } };
}

export const eventOf = (type: EventName, source: t.SourceEvent) =>
  EVENTS.get(type)!.valuesOf(source) as AnyEvent;

const EVENTS = new Map(
  Object.entries<EventDefinition<unknown>>(EVENT_TYPES).map(([name, { description, data }]) => {
    const type = t.data(`${pascal(name)}Event`, description, {
      id: t.id('NotificationEventId', ({ event_id }) => event_id),
      timestamp: t.instant('Time of the event.', ({ occurred_at }) => occurred_at.toISOString()),
      type: t.field(
        () => Field({}, { type: 'string', enum: [name] }),
        undefined,
        () => name,
      ),
      data: t.nested(data),
    });
    return [name, type] as const;
  }),
);

export const EVENT_SCHEMAS = [...EVENTS.values()].map(({ schema }) => schema);

export function incidentIn({ data }: AnyEvent) {
  return 'incident' in data ? data.incident : undefined;
}

export function alertsOf({ event }: Message): Alerts {
  return definitionOf(event.type).alerts(event.data, event.id);
}

/** Maximum length of a value. Every receiver accepts this length, even if each character is escaped. */
const MAX_VALUE = 300;

/** Makes third-party text one line without invisible characters and clickable addresses. Channel types escape it. */
export function shownWords({ severity, words }: Pick<Message, 'severity' | 'words'>) {
  const about = words.about ? ` - ${shown(words.about)}` : '';
  const headline = `${severity ? `[${severity}] ` : ''}${shown(words.headline)}${about}`;
  const facts = Object.entries(words.facts).flatMap(([name, value]) =>
    value ? [{ name, value: shown(value) }] : [],
  );
  return { headline, facts, request: words.request, url: words.url };
}

export const LINK_TEXT = 'Open in the triage service';

function shown(text: string): string {
  return withoutLinks(defang(titleLine(text, MAX_VALUE) ?? '(nothing that can be shown)'));
}

/** Changes `file://server` and `\\server\share`. Windows would send the user's login to a linked server. */
function withoutLinks(text: string): string {
  return text
    .replace(/(?<!\bhxxps?|\bfxp):\/\//gi, '[://]')
    .replace(/\\\\(?=[^\s\\])/g, String.raw`\[\]`);
}
