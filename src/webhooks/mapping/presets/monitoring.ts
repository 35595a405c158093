import type { Preset } from '../../sources/webhook-source.js';

export const ALERTMANAGER: Preset = {
  name: 'alertmanager',
  title: 'Prometheus Alertmanager',
  documentation:
    'The body of a webhook receiver, version 4, with the alerts of one group (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).',
  setUp: [
    'In alertmanager.yml add a receiver with webhook_configs: url {url}, and under http_config an authorization with the type Bearer and credentials_file, a file with the secret.',
    'Set max_alerts to 0 or leave it out, because alerts beyond it are lost.',
    'A resolved alert updates its incident. With send_resolved: false only firing alerts are sent.',
  ],
  marks: [['/receiver', '/groupKey', '/alerts']],
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

export const DATADOG: Preset = {
  name: 'datadog',
  title: 'Datadog',
  documentation:
    'The webhooks integration, with its own payload or a payload below (https://docs.datadoghq.com/integrations/webhooks/).',
  setUp: [
    'Under Integrations > Webhooks create a webhook to {url}, with the custom headers {"X-Webhook-Token": "<the secret>"}.',
    'For security signals use this payload, and name the webhook in a notification rule of Datadog Security: {"security_signal_id":"$SECURITY_SIGNAL_ID","security_signal_title":"$SECURITY_SIGNAL_TITLE","security_signal_severity":"$SECURITY_SIGNAL_SEVERITY","security_signal_msg":"$SECURITY_SIGNAL_MSG","security_rule_name":"$SECURITY_RULE_NAME","hostname":"$HOSTNAME","link":"$LINK","org_name":"$ORG_NAME"}',
    'For monitors create another webhook with this payload, and name it in their messages: {"alert_cycle_key":"$ALERT_CYCLE_KEY","alert_title":"$ALERT_TITLE","alert_priority":"$ALERT_PRIORITY","alert_type":"$ALERT_TYPE","alert_transition":"$ALERT_TRANSITION","text":"$TEXT_ONLY_MSG","hostname":"$HOSTNAME","link":"$LINK","org_name":"$ORG_NAME"}',
    "A monitor that recovers updates its incident. With Datadog's own payload each notification is a new incident.",
  ],
  marks: [
    ['/security_signal_id'],
    ['/alert_cycle_key'],
    ['/event_type', '/last_updated', '/org/id'],
  ],
  mapping: {
    title: [
      ['/security_signal_title', '/hostname'],
      '/security_signal_title',
      '/security_rule_name',
      ['/alert_title', '/hostname'],
      '/alert_title',
      '/title',
    ],
    severity: ['/security_signal_severity', '/alert_priority', '/alert_type'],
    event_id: ['/security_signal_id', '/alert_cycle_key', '/id'],
    type: ['/security_rule_name', '/security_signal_title', '/alert_title', '/title'],
    lift: {
      host: '/hostname',
      account: ['/org_name', '/org/name'],
      rule: '/security_rule_name',
      description: ['/security_signal_msg', '/text', '/body'],
      link: '/link',
    },
  },
  severityMapping: {
    p1: 'critical',
    p2: 'high',
    p3: 'medium',
    p4: 'low',
    p5: 'low',
    error: 'high',
    warning: 'medium',
    success: 'low',
  },
  signature: 'token',
};

export const GRAFANA: Preset = {
  name: 'grafana',
  title: 'Grafana Alerting',
  documentation:
    'The body of the webhook contact point, with the alerts of one group (https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/).',
  setUp: [
    'Under Alerting > Contact points create a contact point of the type Webhook to {url}. Under optional settings leave the scheme of the authorization header at Bearer, and enter the secret as its credentials.',
    'Leave the custom payload empty and Max alerts at 0, because alerts beyond it are lost.',
    'Give the alert rules a label severity; without it an alert is medium. A label category sets the type of the incident.',
    'A resolved alert updates its incident. With Disable resolved message only firing alerts are sent.',
    "Do not use Grafana's own signature: the service cannot check it.",
  ],
  marks: [['/receiver', '/groupKey', '/alerts', '/orgId']],
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
    severity: ['/labels/severity', '/labels/priority', '^/commonLabels/severity'],
    // The fingerprint is that of the labels: the same alert has it again when it fires next week.
    event_id: [['/fingerprint', '/startsAt']],
    type: ['/labels/category', '/labels/alertname', '/annotations/summary'],
    lift: {
      host: ['/labels/instance', '/labels/host', '/labels/node'],
      user: '/labels/user',
      ip: '/labels/source_ip',
      container: ['/labels/pod', '/labels/container'],
      rule: '/labels/alertname',
      description: [
        '/annotations/description',
        '/annotations/summary',
        '^/commonAnnotations/description',
      ],
      link: ['/panelURL', '/dashboardURL', '/generatorURL', '^/externalURL'],
    },
  },
  severityMapping: {
    page: 'critical',
    p1: 'critical',
    p2: 'high',
    p3: 'medium',
    p4: 'low',
    error: 'high',
    warning: 'medium',
    notice: 'low',
    none: 'low',
  },
  signature: 'token',
};

export const PAGERDUTY: Preset = {
  name: 'pagerduty',
  title: 'PagerDuty (webhooks v3)',
  documentation:
    'Events of a v3 webhook subscription about incidents (https://developer.pagerduty.com/docs/webhooks-overview).',
  setUp: [
    'Under Integrations > Generic Webhooks (v3) create a webhook to {url}, for the account, a team or a service with security incidents.',
    'PagerDuty creates the secret and shows it once: register the source with it. PagerDuty signs the body in X-PagerDuty-Signature.',
    'Choose incident.triggered, incident.priority_updated and incident.resolved. Each further event is a report of the same incident.',
    'The test event of PagerDuty (pagey.ping) gets 422 and is kept as a failed event.',
    'Exclude incidents that this service creates in PagerDuty: they would return as new incidents.',
  ],
  marks: [['/event/event_type', '/event/resource_type', '/event/occurred_at']],
  mapping: {
    title: [
      ['/event/data/title', '/event/data/service/summary'],
      '/event/data/title',
      '/event/data/incident/summary',
    ],
    severity: ['/event/data/priority/summary', '/event/data/urgency'],
    // Notes and responders name the incident that they belong to.
    event_id: ['/event/data/incident/id', '/event/data/id'],
    type: ['/event/data/title', '/event/data/incident/summary', '/event/data/service/summary'],
    lift: {
      resource: '/event/data/service/summary',
      link: ['/event/data/html_url', '/event/data/incident/html_url'],
    },
  },
  severityMapping: { p1: 'critical', p2: 'high', p3: 'medium', p4: 'low', p5: 'low' },
  signature: 'body',
};
