import { SEVERITIES } from '../../incidents/incident.js';
import type { Message } from '../notification.js';
import type { EventIncident } from './event-data.js';
import type { AnyEvent } from './event-schemas.js';

/** Incidents that a message lists; it counts the rest. */
const MOST_LISTED = 8;

interface Told {
  readonly message: Message;
  readonly incident: EventIncident;
}

/**
 * One message for people about several new incidents of a source. It lists the most severe ones first, and of these the newest,
 * which its link opens. To whoever has seen the first message it is the same event, whatever it has in it.
 *
 * @param messages the carrier first
 * @param alike new incidents of the carrier's group in the last 10 minutes
 */
export function foldedMessage(messages: readonly [Message, ...Message[]], alike: number): Message {
  const [carrier] = messages;
  if (messages.length === 1) return withCount(carrier, alike);
  const told = messages.flatMap(toldOf).toSorted(bySeverityAndAge);
  const [first] = told;
  if (!first) return carrier;
  const { incident } = first;
  const rest = told.length - MOST_LISTED;
  const listed = told.slice(0, MOST_LISTED).map(({ incident: one }) => {
    return { name: one.incident_number, value: `${one.severity}: ${one.title}` };
  });
  const more = rest > 0 ? [{ name: 'More', value: `${rest} in the list of incidents` }] : [];
  return withCount(
    {
      ...carrier,
      severity: incident.severity,
      words: {
        headline: `${told.length} new incidents from ${incident.source}: ${incident.incident_number}`,
        about: incident.title,
        facts: [...listed, ...more],
        url: first.message.words.url,
      },
    },
    alike,
  );
}

/** How large the wave is by now, where there is one. */
function withCount(message: Message, alike: number): Message {
  if (alike < 2) return message;
  const { facts } = message.words;
  const count = { name: 'Alike', value: `${alike} new incidents in 10 minutes` };
  return { ...message, words: { ...message.words, facts: [...facts, count] } };
}

function toldOf(message: Message): Told[] {
  const event = message.payload as unknown as AnyEvent;
  return event.type === 'incident.created' ? [{ message, incident: event.data.incident }] : [];
}

function bySeverityAndAge(one: Told, other: Told): number {
  const rank = ({ incident }: Told) => SEVERITIES.indexOf(incident.severity);
  return (
    rank(other) - rank(one) || other.message.occurredAt.getTime() - one.message.occurredAt.getTime()
  );
}
