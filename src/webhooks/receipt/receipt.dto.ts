import { Choice, Flag, Id, NestedList, Text } from '../../platform/validation/fields.js';
import type { SettledEvent } from './settlement.js';
import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam } from '@nestjs/swagger';
import { CHALLENGE, OKTA_CHALLENGE } from '../signatures/hmac.guard.js';
import { SOURCE_NAME } from '../sources/webhook-source.entity.js';

class ReceivedEventDto {
  @Id('IncidentId')
  readonly incident_id: string;

  @Text({ example: 'INC-2026-0042' })
  readonly incident_number: string;

  @Flag({ optional: true, description: 'The event was received before.', example: true })
  readonly duplicate?: boolean;

  @Flag({ optional: true, description: 'The event had other content before.', example: true })
  readonly updated?: boolean;

  static from(this: void, { outcome, ...event }: SettledEvent): ReceivedEventDto {
    const { incident_id, incident_number } = event;
    return { incident_id, incident_number, ...(outcome !== 'created' && { [outcome]: true }) };
  }
}

export class AcceptedReceiptDto extends ReceivedEventDto {
  @Choice('AcceptedStatus', ['accepted'], { example: 'accepted' })
  readonly status: 'accepted';

  @NestedList(() => ReceivedEventDto, {
    optional: true,
    description:
      'All events, if there are several. The other fields are those of the first event; `duplicate` and `updated` are present if they apply to all events.',
  })
  readonly incidents?: readonly ReceivedEventDto[];

  static fromAll(this: void, events: readonly SettledEvent[]): AcceptedReceiptDto {
    const isMixed = new Set(events.map(({ outcome }) => outcome)).size > 1;
    const first: SettledEvent = isMixed ? { ...events[0]!, outcome: 'created' } : events[0]!;
    const incidents = events.length > 1 ? events.map(ReceivedEventDto.from) : undefined;
    return { status: 'accepted', ...ReceivedEventDto.from(first), incidents };
  }
}

const STORED = 'The body is stored; the incidents of its events follow.';

export class QueuedReceiptDto {
  @Choice('QueuedStatus', ['queued'], { example: 'queued' })
  readonly status: 'queued';

  @Id('WebhookEventId', { description: 'GET /api/webhook-events/{id} shows the result.' })
  readonly queue_id: string;

  @Text({ example: STORED })
  readonly message: string;

  static of(this: void, queue_id: string): QueuedReceiptDto {
    return { status: 'queued', queue_id, message: STORED };
  }
}

export class WebhookVerificationDto {
  @Text({
    max: 256,
    description: 'The value of `x-okta-verification-challenge`.',
    example: 'Yd0iGk3CvZq7Wm2x',
  })
  readonly verification: string;
}

const header = (name: string, description: string, example: string) =>
  ApiHeader({ name, required: false, description, schema: { type: 'string' }, example });

export const ApiOktaChallenge = (): MethodDecorator =>
  ApiHeader({
    name: OKTA_CHALLENGE,
    required: false,
    description: 'Verification of the address by Okta, before it sends events.',
    schema: { type: 'string', pattern: CHALLENGE.source },
  });

export const ApiAnyBody = (): MethodDecorator =>
  ApiBody({
    description:
      'JSON in a format, or for the mapping of the source. Each member of a list is an event.',
    required: true,
    schema: {},
  });

export const ApiDelivery = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'source',
      description: 'Name of a registered source.',
      schema: { title: 'WebhookSourceName', type: 'string', pattern: SOURCE_NAME.source },
      example: 'siem',
    }),
    header(
      'X-Webhook-Signature',
      '`sha256=` and the HMAC-SHA256 in hex, with the secret as key, over timestamp, period and body; over the body only if `signature` is `body`. `X-Signature` and `X-Hub-Signature-256` are alternatives, and for `body` also `X-PagerDuty-Signature`.',
      'sha256=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    ),
    header(
      'X-Webhook-Timestamp',
      'Unix time in seconds, if `signature` is `timestamped`.',
      '1769851800',
    ),
    header(
      'X-Webhook-Token',
      'The secret, if `signature` is `token`. `cf-webhook-auth` and `Authorization: Bearer` are alternatives. For `basic`, `Authorization: Basic` has the name of the source and the secret.',
      'the-secret-of-the-source',
    ),
    header(
      'webhook-id',
      'Id of the message by Standard Webhooks, if `signature` is `standard`.',
      'msg_1',
    ),
    header('webhook-timestamp', 'Unix time in seconds, by Standard Webhooks.', '1769851800'),
    header(
      'webhook-signature',
      'Signature by Standard Webhooks.',
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ),
    ApiAnyBody(),
  );
