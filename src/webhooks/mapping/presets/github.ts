import type { Preset } from '../preset.js';

export const GITHUB: Preset = {
  name: 'github',
  title: 'GitHub security alerts',
  documentation:
    'The events code_scanning_alert, secret_scanning_alert and dependabot_alert (https://docs.github.com/webhooks/webhook-events-and-payloads).',
  setUp: [
    'In the settings of the repository or the organisation make a webhook to {url} with the content type application/json and the secret.',
    'Choose single events: code scanning alerts, secret scanning alerts, Dependabot alerts.',
    'GitHub signs the body in X-Hub-Signature-256, so the source is registered with the signature `body`. The signature has no time in it: a repetition is known by its content.',
    'The ping that GitHub sends when the webhook is saved is no alert. It is answered with 422 and kept as a failed event.',
    'A leaked secret has no severity: one that is still valid becomes critical, one of which nobody knows high, one that is no longer valid low.',
  ],
  mapping: {
    title: [
      ['/alert/rule/description', '/repository/full_name'],
      ['/alert/security_advisory/summary', '/repository/full_name'],
      ['/alert/secret_type_display_name', '/repository/full_name'],
      ['/alert/secret_type', '/repository/full_name'],
      ['/alert/rule/id', '/repository/full_name'],
    ],
    severity: [
      '/alert/rule/security_severity_level',
      '/alert/security_vulnerability/severity',
      '/alert/security_advisory/severity',
      '/alert/validity',
      '/alert/rule/severity',
    ],
    // The number of an alert is its own only within one repository and one kind of alert.
    event_id: '/alert/html_url',
    lift: {
      user: '/sender/login',
      file: [
        '/alert/most_recent_instance/location/path',
        '/alert/dependency/manifest_path',
        '/alert/first_location_detected/path',
      ],
      repository: '/repository/full_name',
      package: '/alert/dependency/package/name',
      rule: ['/alert/rule/id', '/alert/security_advisory/ghsa_id', '/alert/secret_type'],
      description: ['/alert/rule/full_description', '/alert/security_advisory/summary'],
      link: '/alert/html_url',
    },
  },
  severityMapping: {
    none: 'low',
    note: 'low',
    warning: 'medium',
    error: 'high',
    active: 'critical',
    unknown: 'high',
    inactive: 'low',
  },
  incidentType: 'policy_violation',
  signature: 'body',
};
