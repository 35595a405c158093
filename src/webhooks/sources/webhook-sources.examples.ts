import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';

const ALERT = {
  event_type: 'malware',
  timestamp: '2026-01-31T09:30:00Z',
  source: 'siem',
  data: { alert_id: 'alert-4711', severity: 'high', details: { host: 'web-1.example.com' } },
};

const EVENT_IDS = [
  ['/labels/alertname', '/labels/instance'],
  ['/labels/alertname', '/labels/host'],
  ['/labels/alertname', '/labels/pod'],
  ['/labels/alertname', '/annotations/summary'],
  '/labels/alertname',
  '/annotations/summary',
];

const SIEM = {
  source: 'siem',
  enabled: true,
  signature: 'timestamped',
  format: 'auto',
  severity_mapping: { urgent: 'critical' },
  type_mapping: {},
  incident_type_fixed: false,
  min_severity: 'low',
  auto_triage: false,
  created_by: 'admin',
  created_at: '2026-01-30T15:19:00.002Z',
  updated_at: '2026-01-30T15:19:00.002Z',
};

const ANSWERED_SIEM = { data: SIEM };

const PROMETHEUS = {
  source: 'prometheus',
  enabled: true,
  signature: 'token',
  format: 'mapping',
  preset: 'alertmanager',
  mapping: {
    lift: {
      host: ['/labels/instance', '/labels/host', '/labels/node'],
      link: ['/generatorURL', '^/externalURL', '/annotations/runbook_url'],
      rule: '/labels/alertname',
      container: ['/labels/pod', '/labels/container'],
      description: [
        '/annotations/description',
        '/annotations/summary',
        '^/commonAnnotations/description',
      ],
    },
    items: '/alerts',
    title: EVENT_IDS,
    type: ['/labels/category', '/labels/alertname'],
    event_id: [['/fingerprint', '/startsAt']],
    severity: ['/labels/severity', '^/commonLabels/severity'],
  },
  severity_mapping: {
    none: 'low',
    page: 'critical',
    error: 'high',
    notice: 'low',
    warning: 'medium',
  },
  type_mapping: {},
  incident_type_fixed: false,
  min_severity: 'low',
  auto_triage: false,
  created_by: 'admin',
  created_at: '2026-01-30T15:19:30.003Z',
  updated_at: '2026-01-30T15:19:30.003Z',
};

export const WEBHOOK_SOURCE_EXAMPLES: OperationExamples = {
  createWebhookSource: {
    siem: {
      summary: 'A tool that signs time and body',
      body: {
        source: 'siem',
        secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
        severity_mapping: { urgent: 'critical' },
      },
      status: 201,
      answer: ANSWERED_SIEM,
    },
    preset: {
      summary: 'A tool for which there is a preset',
      body: { source: 'prometheus', secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd', preset: 'alertmanager' },
      status: 201,
      answer: { data: PROMETHEUS },
    },
    conflict: {
      summary: 'The name is taken',
      body: { source: 'siem', secret: 'v7Zq-1mC4tXs9bLw2RkE8yHd' },
      status: 409,
      answer: refused('conflict', 'There is a webhook source siem already.'),
    },
  },
  listWebhookSources: {
    by_name: {
      summary: 'In the order of their names',
      query: { sort: 'source' },
      status: 200,
      answer: { data: [PROMETHEUS, SIEM], meta: { page: 1, per_page: 20, total: 2 } },
    },
  },
  getWebhookSource: {
    siem: {
      summary: 'A tool that signs time and body',
      path: { source: 'siem' },
      status: 200,
      answer: ANSWERED_SIEM,
    },
    not_found: {
      summary: 'Nobody registered it',
      path: { source: 'prometheus' },
      status: 404,
      answer: refused('not_found', 'Webhook source not found.'),
    },
  },
  updateWebhookSource: {
    mapping: {
      summary: 'Say where its events have what',
      path: { source: 'siem' },
      body: {
        mapping: { title: '/alarm/rule', severity: '/alarm/level', event_id: '/alarm/key' },
        severity_mapping: { warn: 'medium' },
      },
      status: 200,
      answer: {
        data: {
          source: 'siem',
          enabled: true,
          signature: 'timestamped',
          format: 'mapping',
          mapping: { title: '/alarm/rule', event_id: '/alarm/key', severity: '/alarm/level' },
          severity_mapping: { warn: 'medium' },
          type_mapping: {},
          incident_type_fixed: false,
          min_severity: 'low',
          auto_triage: false,
          created_by: 'admin',
          created_at: '2026-01-30T15:19:00.002Z',
          updated_at: '2026-01-31T09:38:00.003Z',
        },
      },
    },
  },
  deleteWebhookSource: {
    deleted: {
      summary: 'It is deleted',
      path: { source: 'prometheus' },
      status: 200,
      answer: { data: { id: 'prometheus', deleted: true } },
    },
  },
  listWebhookPresets: {
    excerpt: {
      summary: 'One of them',
      status: 200,
      answer: {
        data: [
          {
            name: 'alertmanager',
            title: 'Prometheus Alertmanager',
            documentation:
              'The body of a webhook receiver, version 4, with the alerts of one group (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).',
            set_up: [
              'In alertmanager.yml add a receiver with webhook_configs: url {url}, and under http_config an authorization with the type Bearer and credentials_file, a file with the secret.',
              'Set max_alerts to 0 or leave it out: what it cuts off never arrives.',
              'An alert that is resolved updates the incident that it made while it was firing; with send_resolved: false only what fires is sent.',
              'Alertmanager does not sign, so the source is registered with the signature `token`.',
            ],
            signature: 'token',
            mapping: {
              items: '/alerts',
              title: EVENT_IDS,
              severity: ['/labels/severity', '^/commonLabels/severity'],
              event_id: [['/fingerprint', '/startsAt']],
              type: ['/labels/category', '/labels/alertname'],
              lift: {
                host: ['/labels/instance', '/labels/host', '/labels/node'],
                container: ['/labels/pod', '/labels/container'],
                rule: '/labels/alertname',
                description: [
                  '/annotations/description',
                  '/annotations/summary',
                  '^/commonAnnotations/description',
                ],
                link: ['/generatorURL', '^/externalURL', '/annotations/runbook_url'],
              },
            },
            severity_mapping: {
              page: 'critical',
              error: 'high',
              warning: 'medium',
              notice: 'low',
              none: 'low',
            },
          },
        ],
      },
    },
  },
  previewWebhookEvent: {
    one_incident: {
      summary: 'It would make one incident',
      path: { source: 'siem' },
      body: ALERT,
      status: 200,
      answer: {
        data: {
          incidents: [
            {
              incident_type: 'malware',
              severity: 'high',
              title: 'malware (web-1.example.com)',
              event_id: 'alert-4711',
              fields: { event_id: 'alert-4711', host: 'web-1.example.com' },
              raw_data: ALERT,
            },
          ],
        },
      },
    },
  },
};
