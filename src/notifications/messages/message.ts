import { defang } from '../../incidents/defang.js';
import { titleLine } from '../../incidents/raw-data-text.js';
import { type AnyEvent, EVENT_TYPES, type EventName, type Message } from '../notification.js';
import {
  type AlertChange,
  type EventDefinition,
  pageUrl,
  type SourceEvent,
  type Words,
} from './define-event.js';

const definitionOf = (name: EventName): EventDefinition<unknown> => EVENT_TYPES[name];

/** Builds the message of an event: the payload for programs, and the words for people. */
export function messageOf(event: EventName, source: SourceEvent): Message {
  const payload = payloadOf(event, source);
  const definition = definitionOf(event);
  const { facts, ...words } = definition.words(payload.data);
  const url = definition.hasNoPage ? undefined : linkTo(payload.data, source.publicUrl);
  return {
    eventId: source.eventId,
    event,
    occurredAt: source.occurredAt,
    severity: 'incident' in payload.data ? payload.data.incident?.severity : undefined,
    incidentId: source.incidentId,
    payload,
    words: {
      ...words,
      facts: Object.entries(facts).flatMap(([name, value]) =>
        // The headline contains `about`.
        value && value !== words.about ? [{ name, value }] : [],
      ),
      url,
    },
  };
}

/** The event as the contract describes it. */
export function payloadOf(type: EventName, source: SourceEvent): AnyEvent {
  const { eventId: id, occurredAt } = source;
  const data = definitionOf(type).data.valuesOf(source);
  return { id, type, timestamp: occurredAt.toISOString(), data } as AnyEvent;
}

/** Page for people about the subject of the event. */
function linkTo(data: AnyEvent['data'], publicUrl: string | undefined): string | undefined {
  if ('action' in data) return pageUrl(publicUrl, 'action', data.action.id);
  if ('incident' in data) return pageUrl(publicUrl, 'incident', data.incident?.id);
  if ('connector' in data) return pageUrl(publicUrl, 'connector', data.connector.id);
  if ('webhook_event' in data) return pageUrl(publicUrl, 'webhook_event', data.webhook_event.id);
  if ('channel' in data) return pageUrl(publicUrl, 'notification_channel', data.channel.id);
  return pageUrl(publicUrl);
}

/** Changes of PagerDuty alerts. */
export function alertChangesOf({ payload, eventId, wave }: Message): readonly AlertChange[] {
  return definitionOf(payload.type).alerts(payload.data, eventId, wave);
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
