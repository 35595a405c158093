import type { Preset } from '../../sources/webhook-source.js';

/** The keys of an alert's document come in both ways: with dots, or one in the other. */
export const ELASTIC: Preset = {
  name: 'elastic',
  title: 'Elastic Security (Kibana webhook connector)',
  documentation:
    'Alerts of detection rules, sent by the webhook connector of Kibana 8.8 and newer (https://www.elastic.co/docs/reference/kibana/connectors-kibana/webhook-action-type) with the body below. Their fields follow the alert schema (https://www.elastic.co/docs/reference/security/fields-and-object-schemas/alert-schema).',
  setUp: [
    'In Kibana create a webhook connector: POST to {url}, a header X-Webhook-Token with the secret (as an encrypted header if the version has them), no other authentication.',
    'Add it as an action to the detection rules, with a summary of alerts for each run of the rule.',
    'Body, with three braces that keep the alerts as JSON: {"rule":{"id":"{{rule.id}}","name":"{{rule.name}}"},"link":"{{{context.results_link}}}","alerts":{{{context.alerts.asJSON}}}}',
  ],
  marks: [
    ['/alerts/0/kibana'],
    ['/alerts/0/kibana.alert.uuid'],
    ['/kibana/alert'],
    ['/kibana.alert.uuid'],
  ],
  mapping: {
    items: ['/alerts', ''],
    title: [
      ['/kibana.alert.rule.name', '/host.name'],
      ['/kibana/alert/rule/name', '/host/name'],
      ['/kibana.alert.rule.name', '/user.name'],
      ['/kibana/alert/rule/name', '/user/name'],
      '/kibana.alert.rule.name',
      '/kibana/alert/rule/name',
      '^/rule/name',
    ],
    severity: [
      '/kibana.alert.severity',
      '/kibana/alert/severity',
      '/kibana.alert.risk_score',
      '/kibana/alert/risk_score',
    ],
    event_id: ['/kibana.alert.uuid', '/kibana/alert/uuid', '/_id'],
    type: [
      '/kibana.alert.rule.name',
      '/kibana/alert/rule/name',
      '^/rule/name',
      '/kibana.alert.rule.threat/0/tactic/name',
      '/kibana/alert/rule/threat/0/tactic/name',
    ],
    lift: {
      host: ['/host.name', '/host/name', '/host.hostname', '/host/hostname'],
      user: ['/user.name', '/user/name'],
      ip: ['/source.ip', '/source/ip', '/destination.ip', '/destination/ip'],
      domain: [
        '/destination.domain',
        '/destination/domain',
        '/dns.question.name',
        '/dns/question/name',
      ],
      url: ['/url.full', '/url/full'],
      file: ['/file.path', '/file/path'],
      hash: [
        '/file.hash.sha256',
        '/file/hash/sha256',
        '/process.hash.sha256',
        '/process/hash/sha256',
      ],
      process: ['/process.command_line', '/process/command_line', '/process.name', '/process/name'],
      outcome: ['/event.outcome', '/event/outcome'],
      rule: ['/kibana.alert.rule.name', '/kibana/alert/rule/name', '^/rule/name'],
      description: ['/kibana.alert.reason', '/kibana/alert/reason'],
      link: ['/kibana.alert.url', '/kibana/alert/url', '^/link'],
    },
  },
  severityMapping: { '0-21': 'low', '22-47': 'medium', '48-73': 'high', '74-100': 'critical' },
  incidentType: 'intrusion',
  signature: 'token',
};

export const GRAYLOG: Preset = {
  name: 'graylog',
  title: 'Graylog',
  documentation:
    'The body of an HTTP notification (https://go2docs.graylog.org/current/interacting_with_your_log_data/alert_types.htm). Fields have the names of the Graylog Information Model (https://schema.graylog.org).',
  setUp: [
    'Under Alerts > Notifications create a notification of the type HTTP Notification to {url}, with `<source>:<secret>` as Basic authentication.',
    'Add it to the event definitions whose events should become incidents, with a message backlog of at least 1: host, user and address are read from the first message, unless the event definition has fields with these names.',
    'The priority of the event definition is the severity: 1 is low, 2 medium, 3 high, 4 critical.',
  ],
  marks: [['/event_definition_id', '/event/priority']],
  mapping: {
    title: [
      ['/event_definition_title', '/event/fields/host_hostname'],
      ['/event_definition_title', '/backlog/0/fields/host_hostname'],
      ['/event_definition_title', '/event/key'],
      '/event_definition_title',
      '/event/message',
    ],
    severity: '/event/priority',
    event_id: '/event/id',
    type: ['/event_definition_title', '/event_definition_description', '/event/message'],
    lift: {
      host: [
        '/event/fields/host_hostname',
        '/backlog/0/fields/host_hostname',
        '/backlog/0/fields/source',
        '/backlog/0/source',
      ],
      user: ['/event/fields/user_name', '/backlog/0/fields/user_name'],
      ip: ['/event/fields/source_ip', '/backlog/0/fields/source_ip'],
      file: ['/event/fields/file_path', '/backlog/0/fields/file_path'],
      process: [
        '/event/fields/process_command_line',
        '/backlog/0/fields/process_command_line',
        '/backlog/0/fields/process_name',
      ],
      outcome: ['/event/fields/event_outcome', '/backlog/0/fields/event_outcome'],
      rule: '/event_definition_title',
      description: ['/event/message', '/event_definition_description'],
    },
  },
  severityMapping: { '1': 'low', '2': 'medium', '3': 'high', '4': 'critical' },
  signature: 'basic',
};

export const SPLUNK_NOTABLE: Preset = {
  name: 'splunk_notable',
  title: 'Splunk Enterprise Security (notable events)',
  documentation:
    'Notable events, now called findings, as the `result` of a webhook alert action (https://docs.splunk.com/Documentation/Splunk/latest/Alert/Webhooks), with the fields of the notable index (https://dev.splunk.com/enterprise/docs/devtools/enterprisesecurity/notableeventsplunkes).',
  setUp: [
    'Save a search such as `notable` | where status=1 as an alert that triggers for each result, because the action sends one result per trigger.',
    "Splunk's own webhook action sends neither headers nor a signature. Either install an alert action that sends X-Webhook-Token with the secret to {url}, or add the header in a reverse proxy that only Splunk can reach.",
    'Your own alert action can sign: then register the source with the signature `timestamped`.',
  ],
  marks: [
    ['/search_name', '/result'],
    ['/sid', '/result'],
  ],
  mapping: {
    title: [
      ['/result/rule_title', '/result/dest'],
      ['/result/rule_title', '/result/user'],
      ['/result/rule_title', '/result/src'],
      '/result/rule_title',
      ['/result/rule_name', '/result/dest'],
      '/result/rule_name',
      ['/result/search_name', '/result/dest'],
      '/result/search_name',
    ],
    severity: ['/result/urgency', '/result/severity'],
    event_id: ['/result/event_id', '/result/finding_id'],
    type: [
      '/result/rule_title',
      '/result/rule_name',
      '/result/search_name',
      '/result/savedsearch_description',
    ],
    lift: {
      host: ['/result/dest', '/result/dvc'],
      user: ['/result/user', '/result/src_user'],
      ip: ['/result/src_ip', '/result/src'],
      domain: '/result/query',
      url: '/result/url',
      file: ['/result/file_path', '/result/file_name'],
      hash: '/result/file_hash',
      process: '/result/process',
      outcome: '/result/action',
      rule: ['/result/rule_name', '/result/search_name', '/search_name'],
      description: ['/result/rule_description', '/result/savedsearch_description'],
      link: '/results_link',
    },
  },
  severityMapping: { unknown: 'medium' },
  incidentType: 'intrusion',
  signature: 'token',
};

export const SURICATA: Preset = {
  name: 'suricata',
  title: 'Suricata (eve.json)',
  documentation:
    'Records of the type alert of eve.json, single or in a list (https://docs.suricata.io/en/latest/output/eve/eve-json-format.html). Severity 1 is the most serious.',
  setUp: [
    'Suricata only writes files: let a log shipper such as Vector or Fluent Bit read eve.json, and keep only records with event_type alert.',
    'Its HTTP output: POST to {url}, JSON, header X-Webhook-Token with the secret. A batch must be one JSON list, not lines.',
  ],
  marks: [['/flow_id', '/event_type', '/alert/signature']],
  mapping: {
    items: '',
    title: [['/alert/signature', '/dest_ip'], '/alert/signature'],
    severity: '/alert/severity',
    // Several rules may fire in one flow, and one rule several times.
    event_id: [
      ['/flow_id', '/alert/signature_id', '/timestamp', '/tx_id'],
      ['/flow_id', '/alert/signature_id', '/timestamp'],
    ],
    type: ['/alert/category', '/alert/signature'],
    lift: {
      host: '/dest_ip',
      ip: '/src_ip',
      domain: ['/tls/sni', '/http/hostname', '/dns/query/0/rrname', '/dns/rrname'],
      url: '/http/url',
      file: ['/fileinfo/filename', '/files/0/filename'],
      hash: ['/fileinfo/sha256', '/files/0/sha256'],
      outcome: '/alert/action',
      rule: '/alert/signature_id',
      description: '/alert/category',
    },
  },
  severityMapping: { '1': 'high', '2': 'medium', '3': 'low', '4-255': 'low' },
  incidentType: 'intrusion',
  signature: 'token',
};
