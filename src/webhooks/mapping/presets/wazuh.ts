import type { Preset } from '../preset.js';

export const WAZUH: Preset = {
  name: 'wazuh',
  title: 'Wazuh',
  documentation:
    'Alerts as they are in alerts.json, sent by an integration of the manager (https://documentation.wazuh.com/current/user-manual/manager/integration-with-external-apis.html), as they are or as the field all_fields of the integration for Shuffle; ' +
    'levels of rules from 0 to 16 (https://documentation.wazuh.com/current/user-manual/ruleset/rules/rules-classification.html).',
  setUp: [
    'On the manager put a script into /var/ossec/integrations whose name begins with custom-. It reads the file that its first argument names and posts its content to the address in its third argument, with the header X-Webhook-Token and its second argument as the value.',
    'In ossec.conf add an integration with this name, hook_url {url}, api_key the secret, alert_format json, and a level from which on alerts are sent, for example 7.',
    'Such a script can sign as well: with X-Webhook-Timestamp and X-Webhook-Signature the source may be registered with the signature `timestamped`, which is the better choice.',
    'The integrations that Wazuh brings send no header that could hold a secret.',
  ],
  mapping: {
    items: ['/all_fields', ''],
    title: [['/rule/description', '/agent/name'], '/rule/description'],
    severity: '/rule/level',
    event_id: [['/manager/name', '/id'], '/id'],
    type: [
      '/rule/groups/0',
      '/rule/groups/1',
      '/rule/groups/2',
      '/rule/mitre/technique/0',
      '/rule/mitre/tactic/0',
      '/rule/description',
    ],
    lift: {
      // The agent of a forwarded log is the manager.
      host: ['/predecoder/hostname', '/agent/name'],
      user: ['/data/dstuser', '/data/srcuser', '/data/win/eventdata/targetUserName'],
      ip: ['/data/srcip', '/data/win/eventdata/ipAddress', '/data/dstip'],
      url: '/data/url',
      file: ['/syscheck/path', '/data/virustotal/source/file'],
      hash: '/syscheck/sha256_after',
      process: ['/data/win/eventdata/commandLine', '/data/command'],
      rule: '/rule/id',
      description: ['/rule/description', '/full_log'],
    },
  },
  severityMapping: { '0-6': 'low', '7-11': 'medium', '12-14': 'high', '15-16': 'critical' },
  signature: 'token',
};
