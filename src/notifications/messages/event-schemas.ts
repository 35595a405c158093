import { ApiSchema } from '@nestjs/swagger';
import { firstIdAt } from '../../platform/ids.js';
import { ApiExample } from '../../platform/openapi/answers.js';
import { Field, Id, ID_EXAMPLE, Instant, Nested } from '../../platform/validation/fields.js';
import { EVENT_TYPES, type EventName } from '../notification.js';
import type { EventDefinition } from './define-event.js';
import { payloadOf } from './message.js';

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
  const occurredAt = new Date('2026-01-31T09:42:00.006Z');
  const eventId = firstIdAt(occurredAt.getTime()).replace('-0000-0000-', '-7000-8000-');
  const type = name.split('.')[0]!;
  const subjectId: Record<string, string> = {
    incident: ID_EXAMPLE,
    action: `act-${OTHER_ID}`,
  };
  const source = {
    eventId,
    occurredAt,
    subject: { type, id: subjectId[type] ?? OTHER_ID },
    payload: { ...example },
    incidentId: ID_EXAMPLE,
    incidentNumber: 'INC-2026-0042',
    publicUrl: 'https://triage.example.com',
  };
  ApiExample(payloadOf(name, source))(Schema);
  return Schema;
}
