import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiParam } from '@nestjs/swagger';
import { asExamples } from '../../platform/openapi/answers.js';
import type { EventFormat } from '../formats/event-format.js';
import type { JsonObject } from '../reading/json.js';
import { SOURCE_NAME } from '../sources/webhook-source.js';

const header = (name: string, description: string, example: string) =>
  ApiHeader({ name, required: false, description, schema: { type: 'string' }, example });

/** One for each format: the compiler asks for it. */
export const DELIVERY_EXAMPLES: Readonly<Record<EventFormat['name'], JsonObject>> = {
  generic: {
    event_type: 'malware',
    timestamp: '2026-01-31T09:30:00Z',
    source: 'siem',
    data: { alert_id: 'alert-4711', severity: 'high', details: { host: 'web-1.example.com' } },
  },
  email_alert: {
    eventType: 'AlertCreated',
    id: 'fa2c1d0e-0001',
    creationTime: '2026-01-31T09:30:00Z',
    severity: 'High',
    category: 'Phish',
    entityType: 'MailMessage',
    data: {
      sender: 'ceo@examp1e.com',
      subject: 'Urgent wire transfer',
      recipients: ['finance@example.com'],
    },
  },
  endpoint_alert: {
    metadata: { eventType: 'DetectionSummaryEvent', eventCreationTime: 1_769_851_800_000 },
    event: {
      DetectId: 'ldt:0a1b2c:4711',
      Severity: 4,
      HostnameField: 'WS-0042',
      DetectName: 'Suspicious PowerShell',
    },
  },
  log_alert: {
    search_name: 'Many failed logins',
    trigger_time: 1_769_851_800,
    result: {
      host: 'dc-1',
      source: 'WinEventLog:Security',
      sourcetype: 'WinEventLog',
      _raw: 'EventCode=4625 …',
      EventCode: '4625',
    },
  },
  ocsf: {
    class_uid: 2004,
    severity_id: 4,
    severity: 'High',
    finding_info: { uid: 'finding-4711', title: 'Files are being encrypted' },
    device: { hostname: 'fs-1.example.com' },
  },
};

export const ApiAnyBody = (): MethodDecorator =>
  ApiBody({
    description: "JSON in one of the formats, or as the source's mapping reads it.",
    required: true,
    schema: {},
    examples: asExamples(DELIVERY_EXAMPLES),
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
