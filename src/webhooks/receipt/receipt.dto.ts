import { Choice, Flag, Id, NestedList, Text } from '../../platform/validation/fields.js';
import type { SettledEvent } from './receipt.js';
import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam } from '@nestjs/swagger';
import { CHALLENGE, OKTA_CHALLENGE } from '../signatures/okta-verification.js';
import { SOURCE_NAME } from '../sources/webhook-source.js';

/** What became of one event of a body. */
class ReceivedEventDto {
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

  /** The contract knows no answer without an incident but this one. */
  static ofEmpty(this: void, id: string): QueuedReceiptDto {
    return {
      status: 'queued',
      queue_id: id,
      message: 'The body is stored; its lists of events are empty.',
    };
  }
}

/** The answer to Okta's question of an address. */
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

/** Okta's question, which is no part of reading a source. No example: Swagger UI would send it. */
export const ApiOktaChallenge = (): MethodDecorator =>
  ApiHeader({
    name: OKTA_CHALLENGE,
    required: false,
    description: 'What Okta wants to have back once, before it sends events.',
    schema: { type: 'string', pattern: CHALLENGE.source },
  });

export const ApiAnyBody = (): MethodDecorator =>
  ApiBody({
    description:
      "JSON in one of the formats, or as the source's mapping reads it. The members of a list are events of their own, and so are the lines of a body with the content type `application/x-ndjson`.",
    required: true,
    schema: {},
  });

/** What the contract says of a delivery, whose body and headers the guard reads and no DTO declares. */
export const ApiDelivery = (): MethodDecorator =>
  applyDecorators(
    ApiParam({
      name: 'source',
      description: 'The name of a registered source.',
      schema: { title: 'WebhookSourceName', type: 'string', pattern: SOURCE_NAME.source },
      example: 'siem',
    }),
    header(
      'X-Webhook-Signature',
      "`sha256=` and the HMAC-SHA256 in hex, keyed with the source's secret, over timestamp, period and body; over the body alone where the source's `signature` is `body`. `X-Signature` and `X-Hub-Signature-256` are read in its place; for `body`, too, PagerDuty's `X-PagerDuty-Signature`: `v1=` and the hex, several separated by commas.",
      'sha256=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    ),
    header(
      'X-Webhook-Timestamp',
      'Unix seconds, at most 5 minutes off, where `signature` is `timestamped`.',
      '1769851800',
    ),
    header(
      'X-Webhook-Token',
      'The secret itself, where `signature` is `token`; `cf-webhook-auth` and `Authorization: Bearer` do as well. Where `signature` is `basic`, `Authorization: Basic` has the name of the source and the secret.',
      'the-secret-of-the-source',
    ),
    header('webhook-id', 'As Standard Webhooks say, where `signature` is `standard`.', 'msg_1'),
    header('webhook-timestamp', 'As Standard Webhooks say.', '1769851800'),
    header(
      'webhook-signature',
      'As Standard Webhooks say.',
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ),
    ApiAnyBody(),
  );
