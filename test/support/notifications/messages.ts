import { messageOf } from '../../../src/notifications/messages/message.js';
import type { SourceEvent } from '../../../src/notifications/messages/define-event.js';
import type { AnyEvent, EventName, Message } from '../../../src/notifications/notification.js';

export const INCIDENT_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

/** A message with these words. */
export function messageWith(words: Partial<Message['words']> = {}): Message {
  return {
    eventId: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4f',
    event: 'incident.created',
    occurredAt: new Date('2026-01-31T09:30:00.000Z'),
    severity: 'high',
    incidentId: INCIDENT_ID,
    payload: {} as AnyEvent,
    words: {
      headline: 'New incident: INC-2026-0042',
      facts: [{ name: 'Severity', value: 'high' }],
      ...words,
    },
  };
}

/** The message that the service builds from an event. */
export function messageAbout(
  event: EventName,
  { payload = {}, ...source }: Partial<Omit<SourceEvent, 'payload'>> & { payload?: object } = {},
): Message {
  return messageOf(event, {
    eventId: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4f',
    occurredAt: new Date('2026-01-31T09:30:00.000Z'),
    subject: { type: 'incident', id: INCIDENT_ID },
    payload: { ...payload },
    incidentId: INCIDENT_ID,
    incidentNumber: 'INC-2026-0042',
    publicUrl: 'https://triage.example.com',
    ...source,
  });
}
