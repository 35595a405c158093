import { ApiSchema } from '@nestjs/swagger';
import { defang } from '../incidents/defang.js';
import type { Severity } from '../incidents/incident.js';
import { titleLine } from '../incidents/raw-data-text.js';
import { firstIdAt } from '../platform/ids.js';
import { ApiExample } from '../platform/openapi/answers.js';
import { Field, Id, ID_EXAMPLE, Instant, Nested } from '../platform/validation/fields.js';
import { ACTION_EVENT_TYPES } from './messages/action.events.js';
import {
  type AlertChange,
  type DataOf,
  type EventDefinition,
  pageUrl,
  type SourceEvent,
  type Words,
} from './messages/define-event.js';
import { INCIDENT_EVENT_TYPES } from './messages/incident.events.js';
import { SYSTEM_EVENT_TYPES } from './messages/system.events.js';

/** Events that channels send, in the order of the API. The names are names of domain events. */
export const EVENT_TYPES = {
  ...INCIDENT_EVENT_TYPES,
  ...ACTION_EVENT_TYPES,
  ...SYSTEM_EVENT_TYPES,
};
export type EventName = keyof typeof EVENT_TYPES;

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENT_TYPES, name);
}

/** A channel always receives the events about other channels. */
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
    readonly data: DataOf<(typeof EVENT_TYPES)[Name]['data']>;
  };
}[EventName];

export interface Message {
  readonly event: AnyEvent;
  readonly words: Words;
  readonly severity?: Severity;
}

const definitionOf = (name: EventName): EventDefinition<unknown> => EVENT_TYPES[name];

export function messageOf(type: EventName, source: SourceEvent): Message {
  const event = eventOf(type, source);
  const definition = definitionOf(type);
  const { facts, ...words } = definition.words(event.data);
  return {
    event,
    severity: incidentIn(event)?.severity,
    words: {
      ...words,
      facts: Object.entries(facts).flatMap(([name, value]) => (value ? [{ name, value }] : [])),
      url: definition.hasNoPage ? undefined : pageUrl(source.public_url, event.data),
    },
  };
}

function eventOf(type: EventName, source: SourceEvent): AnyEvent {
  const { event_id: id, occurred_at } = source;
  const data = definitionOf(type).data.valuesOf(source);
  return { id, type, timestamp: occurred_at.toISOString(), data } as AnyEvent;
}

export function incidentIn({ data }: AnyEvent) {
  return 'incident' in data ? data.incident : undefined;
}

export function alertChangesOf({ event }: Message): readonly AlertChange[] {
  return definitionOf(event.type).alerts(event.data, event.id);
}

/** Maximum length of a value. Every receiver accepts this length, even if each character is escaped. */
const MAX_VALUE = 300;

export type ShownWords = Omit<Words, 'about'>;

/**
 * Makes third-party text harmless: one line each, without invisible characters and clickable addresses. The result is plain
 * text, which each channel type escapes for its receiver.
 */
export function shownWords({ severity, words }: Pick<Message, 'severity' | 'words'>): ShownWords {
  const about = words.about ? ` - ${shown(words.about)}` : '';
  const headline = `${severity ? `[${severity}] ` : ''}${shown(words.headline)}${about}`;
  const facts = words.facts.map(({ name, value }) => ({ name, value: shown(value) }));
  return { headline, facts, request: words.request, url: words.url };
}

export const LINK_TEXT = 'Open in the triage service';

function shown(text: string): string {
  return withoutLinks(defang(titleLine(text, MAX_VALUE) ?? '(nothing that can be shown)'));
}

/** Breaks `file://server` and `\\server\share`, which programs also show as links. Windows would log in there. */
function withoutLinks(text: string): string {
  return text
    .replace(/(?<!\bhxxps?|\bfxp):\/\//gi, '[://]')
    .replace(/\\\\(?=[^\s\\])/g, String.raw`\[\]`);
}

const OTHER_ID = '0193f2b7-0a5d-7e31-8c40-5d1f6e2b9a70';
const OCCURRED_AT = new Date('2026-01-31T09:42:00.006Z');
const TITLE = 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com';

/** Payload of the domain events in the examples. Each event shows only its own fields. */
const EXAMPLE = {
  ...{ incident_type: 'phishing', severity: 'high', status: 'open', source: 'email-gateway' },
  ...{ title: TITLE, incident_title: TITLE, previous_severity: 'medium', changed: ['severity'] },
  ...{ updated_by: 'alice', changed_by: 'alice', triaged_by: 'alice', reopened_by: 'alice' },
  ...{ resolved_by: 'bob', deleted_by: 'admin', triage_id: '019c1370-1b16-7000-910b-3c1821923f0f' },
  resolution: 'The mail was deleted from all mailboxes.',
  verdict: {
    ...{ classification: 'malicious', confidence: 0.85, category: 'phishing' },
    decided_by: 'system',
  },
  recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
  ...{ action_type: 'delete_email', target: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
  ...{ requested_by: 'alice', approval_level: 'senior' },
  ...{ playbook: 'phishing-response', playbook_version: 2, step: 'quarantine', automatic: true },
  ...{ by: 'alice', name: 'soc', type: 'webhook', error: 'The body fits no known format.' },
  ...{ failing_since: '2026-01-31T09:20:00.000Z', unhealthy_since: '2026-01-31T09:20:00.000Z' },
};

export const EVENT_SCHEMAS: readonly (new () => object)[] = Object.entries(EVENT_TYPES).map(
  ([name, definition]) => schemaOf(name as EventName, definition),
);

function schemaOf(name: EventName, { description, data, example }: EventDefinition<unknown>) {
  class Schema {
    @Id('NotificationEventId')
    readonly id: string;

    @Instant({ description: 'Time of the event.' })
    readonly timestamp: string;

    @Field({}, { type: 'string', enum: [name] })
    readonly type: string;

    @Nested(() => data.schema)
    readonly data: object;
  }
  const words = name.split(/[._]/).map((word) => word[0]!.toUpperCase() + word.slice(1));
  ApiSchema({ name: `${words.join('')}Event`, description })(Schema);
  const ids: Record<string, string> = { incident: ID_EXAMPLE, action: `act-${OTHER_ID}` };
  const source = {
    event_id: firstIdAt(OCCURRED_AT.getTime()).replace('-0000-0000-', '-7000-8000-'),
    occurred_at: OCCURRED_AT,
    subject_id: ids[name.split('.')[0]!] ?? OTHER_ID,
    payload: { ...EXAMPLE, ...example },
    incident_id: ID_EXAMPLE,
    incident_number: 'INC-2026-0042',
    public_url: 'https://triage.example.com',
  };
  ApiExample(eventOf(name, source))(Schema);
  return Schema;
}
