import type { Preset } from '../preset.js';

export const SPLUNK_NOTABLE: Preset = {
  name: 'splunk_notable',
  title: 'Splunk Enterprise Security (notable events)',
  documentation:
    'Notable events, now called findings, as the `result` of a webhook alert action (https://docs.splunk.com/Documentation/Splunk/latest/Alert/Webhooks), with the fields of the notable index ' +
    '(https://dev.splunk.com/enterprise/docs/devtools/enterprisesecurity/notableeventsplunkes).',
  setUp: [
    'Save a search such as `notable` | where status=1 as an alert that is triggered for each result, so that no notable event is left out: the action sends one result for each time it is triggered.',
    'The webhook action that Splunk brings sends neither headers nor a signature, so it cannot reach {url} alone. Either install an alert action that can send headers, with X-Webhook-Token and the secret, or let a reverse proxy that only Splunk reaches add the header.',
    'An alert action of your own can sign: then register the source with the signature `timestamped`.',
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
