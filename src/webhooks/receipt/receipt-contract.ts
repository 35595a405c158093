import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam } from '@nestjs/swagger';
import { SOURCE_NAME } from '../sources/webhook-source.js';

const header = (name: string, description: string, example: string) =>
  ApiHeader({ name, required: false, description, schema: { type: 'string' }, example });

export const ApiAnyBody = (): MethodDecorator =>
  ApiBody({
    description: "JSON in one of the formats, or as the source's mapping reads it.",
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
      "`sha256=` and the HMAC-SHA256 in hex, keyed with the source's secret, over timestamp, period and body; over the body alone where the source's `signature` is `body`. `X-Signature` and `X-Hub-Signature-256` are read in its place.",
      'sha256=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    ),
    header(
      'X-Webhook-Timestamp',
      'Unix seconds, at most 5 minutes off, where `signature` is `timestamped`.',
      '1769851800',
    ),
    header(
      'X-Webhook-Token',
      'The secret itself, where `signature` is `token`; `cf-webhook-auth` and `Authorization: Bearer` do as well.',
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
