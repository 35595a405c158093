import type { Preset } from '../preset.js';

export const CROWDSTRIKE_EPP: Preset = {
  name: 'crowdstrike_epp',
  title: 'CrowdStrike Falcon alerts and Fusion SOAR',
  documentation:
    'Alerts as the Falcon Alerts API has them, one or as `resources` (https://developer.crowdstrike.com/api-reference/collections/alerts/), and the same names in the body of a Fusion SOAR workflow. ' +
    'What the event stream sends needs no preset: it is the format endpoint_alert.',
  setUp: [
    'In Fusion SOAR make a workflow with the trigger Alert > EPP Detection, and add an HTTP request action: POST to {url}, header X-Webhook-Token with the secret.',
    'Its body is JSON with the names of the Alerts API, filled with the variables of the trigger: composite_id, display_name, severity_name, description, hostname, user_name, filename, cmdline, sha256, tactic, technique, falcon_host_link. composite_id must be there: by it a repetition is known.',
    'The webhook plugin of the Falcon store signs in a way of its own, which this service does not check: use the HTTP request action with the header.',
  ],
  mapping: {
    items: ['/resources', ''],
    title: [
      ['/display_name', '/device/hostname'],
      ['/display_name', '/hostname'],
      ['/name', '/device/hostname'],
      ['/name', '/hostname'],
      ['/display_name', '/user_name'],
      '/display_name',
      '/name',
      '/description',
    ],
    severity: ['/severity_name', '/severity'],
    event_id: ['/composite_id', '/id'],
    type: ['/technique', '/tactic', '/display_name', '/name', '/scenario'],
    lift: {
      host: ['/device/hostname', '/hostname', '/source_endpoint_host_name'],
      user: ['/user_name', '/user_principal', '/source_account_name'],
      ip: '/source_endpoint_address_ip4',
      file: ['/filepath', '/filename'],
      hash: '/sha256',
      process: ['/cmdline', '/filename'],
      rule: ['/technique', '/tactic'],
      description: '/description',
      link: '/falcon_host_link',
    },
  },
  severityMapping: { '0-39': 'low', '40-59': 'medium', '60-79': 'high', '80-100': 'critical' },
  incidentType: 'malware',
  signature: 'token',
};
