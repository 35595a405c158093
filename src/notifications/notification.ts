import type { Severity } from '../incidents/incident.js';
import { ACTION_EVENT_TYPES } from './messages/action.events.js';
import type { DataOf, Wave, Words } from './messages/define-event.js';
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

export const CHANNEL_UNHEALTHY = 'notification_channel.unhealthy';
export const CHANNEL_RECOVERED = 'notification_channel.recovered';
export const TEST_EVENT = 'notification.test';

/** An event as channels of the type webhook send it. */
export type AnyEvent = {
  [Name in EventName]: {
    readonly id: string;
    readonly timestamp: string;
    readonly type: Name;
    readonly data: DataOf<(typeof EVENT_TYPES)[Name]['data']>;
  };
}[EventName];

/** One event, as a channel sends it. */
export interface Message {
  /** The same in every attempt and every channel, so that receivers recognize copies. */
  readonly eventId: string;
  readonly event: EventName;
  readonly occurredAt: Date;
  /** Severity of the incident. */
  readonly severity?: Severity;
  readonly incidentId?: string;
  readonly wave?: Wave;
  /** For programs. */
  readonly payload: AnyEvent;
  /** For people. */
  readonly words: Words;
}
