import type { SourceEvent } from '../../../src/notifications/messages/event-data.js';
import {
  type EventName,
  type Message,
  messageOf,
} from '../../../src/notifications/notification.js';

export const INCIDENT_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
const EVENT_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4f';

/** A message with these words. */
export function messageWith(words: Partial<Message['words']> = {}): Message {
  const payload = { severity: 'high' };
  const facts = { Severity: 'high' };
  const message = messageAbout('incident.created', { payload });
  return { ...message, words: { headline: 'New incident: INC-2026-0042', facts, ...words } };
}

/** The message that the service builds from an event. */
export function messageAbout(event: EventName, source: Partial<SourceEvent> = {}): Message {
  return messageOf(event, {
    event_id: EVENT_ID,
    occurred_at: new Date('2026-01-31T09:30:00.000Z'),
    subject_id: INCIDENT_ID,
    payload: {},
    incident_id: INCIDENT_ID,
    incident_number: 'INC-2026-0042',
    public_url: 'https://triage.example.com',
    ...source,
  });
}
