import type { Preset } from '../preset.js';

/** The keys of an alert's document come in both ways: with dots, or one in the other. */
export const ELASTIC: Preset = {
  name: 'elastic',
  title: 'Elastic Security (Kibana webhook connector)',
  documentation:
    'Alerts of detection rules, sent by the webhook connector of Kibana 8.8 and newer (https://www.elastic.co/docs/reference/kibana/connectors-kibana/webhook-action-type) with the body that is given here; ' +
    'their fields are those of the alert schema (https://www.elastic.co/docs/reference/security/fields-and-object-schemas/alert-schema).',
  setUp: [
    'In Kibana make a webhook connector: POST to {url}, a header X-Webhook-Token with the secret (as an encrypted header where the version has them), no other authentication.',
    'Add it as an action to the detection rules, with a summary of alerts for each run of the rule.',
    'Its body, with three braces so that the alerts stay JSON: {"rule":{"id":"{{rule.id}}","name":"{{rule.name}}"},"link":"{{{context.results_link}}}","alerts":{{{context.alerts.asJSON}}}}',
    'The connector cannot compute a signature over the body, so the source is registered with the signature `token`.',
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
