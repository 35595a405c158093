import type { Message, EventName } from '../notification.js';
import { eventPayload, type ToldEvent } from './event-payloads.js';
import { severityOf, wordsOf } from './words.js';

/** What a channel gets of an event: the payload for programs, and the words for people. */
export function messageOf(event: EventName, told: ToldEvent): Message {
  const payload = eventPayload(event, told);
  return {
    eventId: told.eventId,
    event,
    occurredAt: told.occurredAt,
    severity: severityOf(payload),
    incidentId: told.incidentId,
    payload: { ...payload },
    words: wordsOf(payload, told.publicUrl),
  };
}
