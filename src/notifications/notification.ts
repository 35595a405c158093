import type { Severity } from '../incidents/incident.js';

/** What a channel can be told of, by the names that callers choose them by. They are names of domain events, too. */
export const NOTIFIED_EVENTS = [
  'incident.created',
  'incident.updated',
  'incident.severity_changed',
  'incident.triaged',
  'incident.resolved',
  'incident.reopened',
  'incident.deleted',
  'triage.failed',
  'action.pending_approval',
  'action.expiring',
  'action.completed',
  'action.failed',
  'action.rejected',
  'playbook.step_failed',
  'kill_switch.activated',
  'kill_switch.deactivated',
  'connector.unhealthy',
  'connector.recovered',
  'webhook_event.failed',
] as const;
export type NotifiedEvent = (typeof NOTIFIED_EVENTS)[number];

/** Names, and beginnings of names, of the events that somebody should read when they happen. */
const FOR_PEOPLE = [
  'incident.created',
  'incident.reopened',
  'incident.severity_changed',
  'triage.failed',
  'action.pending_approval',
  'action.expiring',
  'action.failed',
  'playbook.step_failed',
  'kill_switch.',
  'connector.',
];

/** Default events of a channel for people. Completed look-ups, tickets and machine verdicts are not among them. */
export const EVENTS_FOR_PEOPLE: readonly NotifiedEvent[] = NOTIFIED_EVENTS.filter((event) =>
  FOR_PEOPLE.some((name) => (name.endsWith('.') ? event.startsWith(name) : event === name)),
);

/** Every other channel is told when one has failed for long and when it works again, whatever it chose. */
export const CHANNEL_UNHEALTHY = 'notification_channel.unhealthy';
export const CHANNEL_RECOVERED = 'notification_channel.recovered';

/** What somebody sends to see whether a channel works. */
export const TEST_EVENT = 'notification.test';

export type EventName =
  NotifiedEvent | typeof CHANNEL_UNHEALTHY | typeof CHANNEL_RECOVERED | typeof TEST_EVENT;

/** A line of a message to people: `Severity`, `high`. The value is plain text, and may be what an attacker wrote. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** What people read: plain text without markup, which each type of channel escapes for its target, and de-fangs. */
export interface Words {
  /** One line, without what it is about: `New incident: INC-2026-0042`. */
  readonly headline: string;
  /** What it is about, such as a title. Channels show it in the headline, after the severity. */
  readonly about?: string;
  readonly facts: readonly Fact[];
  /** What they can do now, as a sentence; undefined when there is nothing to do. */
  readonly request?: string;
  /** The page where they can do it, after a login; undefined without PUBLIC_URL. It is made of ours alone. */
  readonly url?: string;
}

/** One event, as a channel delivers it. */
export interface Message {
  /** The same for every attempt and every channel, for whoever must not count an event twice. */
  readonly eventId: string;
  readonly event: EventName;
  readonly occurredAt: Date;
  /** Of the incident that it is about; undefined where there is none. */
  readonly severity?: Severity;
  readonly incidentId?: string;
  /** Where several approvals were asked for together: how PagerDuty names their alert, and whether none of them waits any more. */
  readonly wave?: { readonly first: string; readonly isOver: boolean };
  /** For programs: just what the contract says of this event, envelope included. */
  readonly payload: Readonly<Record<string, unknown>>;
  /** For people. */
  readonly words: Words;
}
