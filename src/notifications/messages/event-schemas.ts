import { ApiSchema } from '@nestjs/swagger';
import { firstIdAt } from '../../platform/ids.js';
import { ApiExample } from '../../platform/openapi/answers.js';
import { Field, Id, ID_EXAMPLE, Instant, Nested } from '../../platform/validation/fields.js';
import { EVENT_TYPES, type EventName, eventOf } from '../notification.js';
import type { EventDefinition } from './define-event.js';

type Class = new () => object;

/** Fields of every event. */
abstract class Event {
  @Id('NotificationEventId', {
    description: 'The same in all attempts and channels, so that receivers can ignore copies.',
  })
  readonly id: string;

  @Instant({ description: 'Time of the event.' })
  readonly timestamp: string;
}

const OTHER_ID = '0193f2b7-0a5d-7e31-8c40-5d1f6e2b9a70';
const OCCURRED_AT = new Date('2026-01-31T09:42:00.006Z');
const TITLE = 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com';

/** Payload of the domain events in the examples. Each event shows the fields that it has. */
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

/** Schemas of the events in the contract. */
export const EVENT_SCHEMAS: readonly Class[] = Object.entries(EVENT_TYPES).map(
  ([name, definition]) => schemaOf(name as EventName, definition),
);

/** The schema of `incident.created` is called `IncidentCreatedEvent`. */
function schemaOf(name: EventName, { description, data, example }: EventDefinition<unknown>) {
  class Schema extends Event {
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
