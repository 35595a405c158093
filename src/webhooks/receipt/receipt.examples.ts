import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';
import type { EventFormat } from '../formats/event-format.js';
import type { JsonObject } from '../reading/json.js';

/** One for each format: the compiler asks for it. */
export const DELIVERIES = {
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
    metadata: { eventType: 'DetectionSummaryEvent', eventCreationTime: 1769851800000 },
    event: {
      DetectId: 'ldt:0a1b2c:4711',
      Severity: 4,
      HostnameField: 'WS-0042',
      DetectName: 'Suspicious PowerShell',
    },
  },
  log_alert: {
    search_name: 'Many failed logins',
    trigger_time: 1769851800,
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
} satisfies Readonly<Record<EventFormat['name'], JsonObject>>;

const UNREADABLE = { alarm: { rule: 'Impossible travel', level: 'warn', key: 'a-17' } };

export const RECEIPT_EXAMPLES: OperationExamples = {
  receiveWebhook: {
    generic: {
      summary: 'The generic format',
      path: { source: 'siem' },
      body: DELIVERIES.generic,
      status: 200,
      answer: {
        status: 'accepted',
        incident_id: STORY.alertIncident,
        incident_number: 'INC-2026-0035',
      },
    },
    email_alert: {
      summary: 'An alert about a mail',
      path: { source: 'siem' },
      body: DELIVERIES.email_alert,
      status: 200,
      answer: {
        status: 'accepted',
        incident_id: '019c1363-e601-7002-aa27-e2e44036beb7',
        incident_number: 'INC-2026-0036',
      },
    },
    endpoint_alert: {
      summary: 'An alert about a host',
      path: { source: 'siem' },
      body: DELIVERIES.endpoint_alert,
      status: 200,
      answer: {
        status: 'accepted',
        incident_id: '019c1364-8242-7000-9adb-7deb62bb5352',
        incident_number: 'INC-2026-0037',
      },
    },
    log_alert: {
      summary: 'An alert about logs',
      path: { source: 'siem' },
      body: DELIVERIES.log_alert,
      status: 200,
      answer: {
        status: 'accepted',
        incident_id: '019c1365-1e81-7001-a66c-e422bdc41626',
        incident_number: 'INC-2026-0038',
      },
    },
    ocsf: {
      summary: 'A finding in OCSF',
      path: { source: 'siem' },
      body: DELIVERIES.ocsf,
      status: 200,
      answer: {
        status: 'accepted',
        incident_id: '019c1365-bac1-7001-8c63-5d8f50974687',
        incident_number: 'INC-2026-0039',
      },
    },
    duplicate: {
      summary: 'The same event again',
      path: { source: 'siem' },
      body: DELIVERIES.generic,
      status: 200,
      answer: {
        status: 'accepted',
        incident_id: STORY.alertIncident,
        incident_number: 'INC-2026-0035',
        duplicate: true,
      },
    },
    queued: {
      summary: 'Many arrive at once: a worker makes the incident',
      path: { source: 'siem' },
      body: {
        ...DELIVERIES.generic,
        data: { ...DELIVERIES.generic.data, alert_id: 'alert-4712' },
      },
      status: 202,
      answer: {
        status: 'queued',
        queue_id: STORY.queuedEvent,
        message: 'The event is stored; its incident follows.',
      },
    },
    validation_error: {
      summary: 'It fits no format; it is kept',
      path: { source: 'siem' },
      body: UNREADABLE,
      status: 422,
      answer: refused('validation_error', 'The body fits no known format.', {
        details: {
          errors: [
            { field: '', code: 'unknown_format', message: 'The body fits no known format.' },
          ],
          event_id: STORY.failedEvent,
        },
      }),
    },
    invalid_signature: {
      summary: 'The signature does not verify',
      path: { source: 'siem' },
      body: UNREADABLE,
      headers: { 'x-webhook-signature': 'sha256=00' },
      status: 401,
      answer: refused('invalid_signature', 'The webhook signature is missing or does not verify.'),
    },
    unknown_source: {
      summary: 'Nobody registered the source',
      path: { source: 'nobody' },
      body: UNREADABLE,
      status: 404,
      answer: refused('unknown_source', 'The webhook source is not registered or disabled.'),
    },
  },
};
