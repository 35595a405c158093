import { defang } from '../incidents/defang.js';
import type { Severity } from '../incidents/incident.js';
import { titleLine } from '../incidents/raw-data-text.js';
import { ACTION_EVENT_TYPES } from './messages/action.events.js';
import {
  type AlertChange,
  type DataOf,
  type EventDefinition,
  pageUrl,
  type SourceEvent,
  type Wave,
  type Words,
} from './messages/define-event.js';
import { INCIDENT_EVENT_TYPES } from './messages/incident.events.js';
import { SYSTEM_EVENT_TYPES } from './messages/system.events.js';

/** Events that channels send, in the order of the API. Their names are names of domain events. */
export const EVENT_TYPES = {
  ...INCIDENT_EVENT_TYPES,
  ...ACTION_EVENT_TYPES,
  ...SYSTEM_EVENT_TYPES,
};
export type EventName = keyof typeof EVENT_TYPES;

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENT_TYPES, name);
}

/** Events that channels choose. A channel always receives the events about other channels. */
export type NotifiedEvent = Exclude<EventName, `notification${string}`>;
export const NOTIFIED_EVENTS = Object.keys(EVENT_TYPES).filter(
  (name): name is NotifiedEvent => !name.startsWith('notification'),
);

/** Default events of channels for people. */
export const EVENTS_FOR_PEOPLE = NOTIFIED_EVENTS.filter((name) => EVENT_TYPES[name].forPeople);

/** An event as channels of the type webhook send it, and as the contract describes it. */
export type AnyEvent = {
  [Name in EventName]: {
    /** The same in every attempt and every channel, so that receivers recognize copies. */
    readonly id: string;
    readonly timestamp: string;
    readonly type: Name;
    readonly data: DataOf<(typeof EVENT_TYPES)[Name]['data']>;
  };
}[EventName];

/** One event, as a channel sends it. */
export interface Message {
  /** For programs. */
  readonly event: AnyEvent;
  /** For people. */
  readonly words: Words;
  /** Severity of the incident. */
  readonly severity?: Severity;
  readonly wave?: Wave;
}

const definitionOf = (name: EventName): EventDefinition<unknown> => EVENT_TYPES[name];

/** Builds the message of an event. */
export function messageOf(type: EventName, source: SourceEvent): Message {
  const event = eventOf(type, source);
  const definition = definitionOf(type);
  const { facts, ...words } = definition.words(event.data);
  return {
    event,
    severity: incidentIn(event)?.severity,
    words: {
      ...words,
      facts: Object.entries(facts).flatMap(([name, value]) =>
        // The headline contains `about`.
        value && value !== words.about ? [{ name, value }] : [],
      ),
      url: definition.hasNoPage ? undefined : pageUrl(source.public_url, event.data),
    },
  };
}

export function eventOf(type: EventName, source: SourceEvent): AnyEvent {
  const { event_id: id, occurred_at } = source;
  const data = definitionOf(type).data.valuesOf(source);
  return { id, type, timestamp: occurred_at.toISOString(), data } as AnyEvent;
}

export function incidentIn({ data }: AnyEvent) {
  return 'incident' in data ? data.incident : undefined;
}

/** Changes of PagerDuty alerts. */
export function alertChangesOf({ event, wave }: Message): readonly AlertChange[] {
  return definitionOf(event.type).alerts(event.data, wave, event.id);
}

/** Every receiver accepts values of this length, also if each character is escaped. */
const MAX_VALUE = 300;

/** Text of a message for people. The headline is complete, as for a lock screen or a subject. */
export type ShownWords = Omit<Words, 'about'>;

/**
 * Makes text of third parties harmless: one line each, without invisible characters and clickable addresses. The result is plain
 * text, which each channel type escapes for its receiver.
 */
export function shownWords({ severity, words }: Pick<Message, 'severity' | 'words'>): ShownWords {
  const about = words.about ? ` - ${shown(words.about)}` : '';
  const headline = `${severity ? `[${severity}] ` : ''}${shown(words.headline)}${about}`;
  const facts = words.facts.map(({ name, value }) => ({ name, value: shown(value) }));
  return { headline, facts, request: words.request, url: words.url };
}

/** Text of the link in messages. */
export const LINK_TEXT = 'Open in the triage service';

function shown(text: string): string {
  return withoutLinks(defang(titleLine(text, MAX_VALUE) ?? '(nothing that can be shown)'));
}

/** Programs also make links of `file://server`, and of `\\server\share`, where Windows would log in. */
function withoutLinks(text: string): string {
  return text
    .replace(/(?<!\bhxxps?|\bfxp):\/\//gi, '[://]')
    .replace(/\\\\(?=[^\s\\])/g, String.raw`\[\]`);
}
