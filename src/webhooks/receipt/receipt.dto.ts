import { Choice, Flag, Id, NestedList, Text } from '../../platform/validation/fields.js';
import type { SettledEvent } from './receipt.js';

/** What became of one event of a body. */
export class ReceivedEventDto {
  @Id('IncidentId')
  readonly incident_id: string;

  @Text({ example: 'INC-2026-0042' })
  readonly incident_number: string;

  @Flag({
    optional: true,
    description: 'The event was received before, and nothing was made.',
    example: true,
  })
  readonly duplicate?: boolean;

  @Flag({
    optional: true,
    description:
      'The event was received before with other content: this is a report of the incident, which it may have raised or reopened.',
    example: true,
  })
  readonly updated?: boolean;

  static from(this: void, { incidentId, incidentNumber, outcome }: SettledEvent): ReceivedEventDto {
    return {
      incident_id: incidentId,
      incident_number: incidentNumber,
      duplicate: outcome === 'duplicate' ? true : undefined,
      updated: outcome === 'updated' ? true : undefined,
    };
  }
}

export class AcceptedReceiptDto extends ReceivedEventDto {
  @Choice('AcceptedStatus', ['accepted'], { example: 'accepted' })
  readonly status: 'accepted';

  @NestedList(() => ReceivedEventDto, {
    optional: true,
    description:
      'When the body has several events: one for each, in their order. The incident beside it is that of the first; `duplicate` and `updated` are there when they hold for all.',
  })
  readonly incidents?: readonly ReceivedEventDto[];

  static fromAll(this: void, events: readonly SettledEvent[]): AcceptedReceiptDto {
    const [first, ...others] = events.map(ReceivedEventDto.from);
    const all = [first!, ...others];
    return {
      status: 'accepted',
      ...first!,
      duplicate: all.every(({ duplicate }) => duplicate) || undefined,
      updated: all.every(({ updated }) => updated) || undefined,
      incidents: others.length > 0 ? all : undefined,
    };
  }
}

export class QueuedReceiptDto {
  @Choice('QueuedStatus', ['queued'], { example: 'queued' })
  readonly status: 'queued';

  @Id('WebhookEventId', { description: 'GET /api/webhook-events/{id} tells what became of it.' })
  readonly queue_id: string;

  @Text({ example: 'The event is stored; its incident follows.' })
  readonly message: string;

  static from(this: void, id: string): QueuedReceiptDto {
    return {
      status: 'queued',
      queue_id: id,
      message: 'The event is stored; its incident follows.',
    };
  }
}
