import type { Preset } from '../preset.js';

export const ALERTMANAGER: Preset = {
  name: 'alertmanager',
  title: 'Prometheus Alertmanager',
  documentation:
    'The body of a webhook receiver, version 4, with the alerts of one group (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).',
  setUp: [
    'In alertmanager.yml add a receiver with webhook_configs: url {url}, and under http_config an authorization with the type Bearer and credentials_file, a file with the secret.',
    'Set max_alerts to 0 or leave it out: what it cuts off never arrives.',
    'An alert that is resolved updates the incident that it made while it was firing; with send_resolved: false only what fires is sent.',
    'Alertmanager does not sign, so the source is registered with the signature `token`.',
  ],
  mapping: {
    items: '/alerts',
    title: [
      ['/labels/alertname', '/labels/instance'],
      ['/labels/alertname', '/labels/host'],
      ['/labels/alertname', '/labels/pod'],
      ['/labels/alertname', '/annotations/summary'],
      '/labels/alertname',
      '/annotations/summary',
    ],
    severity: ['/labels/severity', '^/commonLabels/severity'],
    // The fingerprint is that of the labels: the same alert has it again when it fires next week.
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
  severityMapping: {
    page: 'critical',
    error: 'high',
    warning: 'medium',
    notice: 'low',
    none: 'low',
  },
  signature: 'token',
};
