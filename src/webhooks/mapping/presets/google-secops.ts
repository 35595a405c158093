import type { Preset } from '../preset.js';

export const GOOGLE_SECOPS: Preset = {
  name: 'google_secops',
  title: 'Google Security Operations (Chronicle)',
  documentation:
    'Detections of rules as the API lists them, one or many (https://cloud.google.com/chronicle/docs/reference/detection-engine-api#listdetections).',
  setUp: [
    'Google SecOps sends no webhook for a detection. Either add an HTTP action to a playbook of its SOAR part, with the detection as the body, or let a small scheduled job list the new detections and post them as {"detections":[...]}.',
    'POST to {url}, header X-Webhook-Token with the secret.',
    'A job of your own can sign: then register the source with the signature `timestamped`.',
  ],
  mapping: {
    items: ['/detections', '/alerts', ''],
    title: [
      ['/detection/0/ruleName', '/collectionElements/0/references/0/event/principal/hostname'],
      ['/detection/0/ruleName', '/collectionElements/0/references/0/event/principal/user/userid'],
      '/detection/0/ruleName',
    ],
    severity: '/detection/0/severity',
    event_id: '/id',
    type: [
      '/detection/0/ruleLabels/[key=tactic]/value',
      '/detection/0/ruleName',
      '/detection/0/description',
    ],
    lift: {
      host: [
        '/collectionElements/0/references/0/event/principal/hostname',
        '/collectionElements/0/references/0/event/target/hostname',
      ],
      user: [
        '/collectionElements/0/references/0/event/principal/user/userid',
        '/collectionElements/0/references/0/event/target/user/userid',
      ],
      // The principal is the machine that the event is about, where it has a name.
      ip: [
        '/collectionElements/0/references/0/event/target/ip',
        '/collectionElements/0/references/0/event/principal/ip',
      ],
      url: '/collectionElements/0/references/0/event/target/url',
      file: '/collectionElements/0/references/0/event/target/file/fullPath',
      hash: '/collectionElements/0/references/0/event/target/file/sha256',
      process: '/collectionElements/0/references/0/event/target/process/commandLine',
      rule: '/detection/0/ruleId',
      description: ['/detection/0/summary', '/detection/0/description'],
      link: '/detection/0/urlBackToProduct',
    },
  },
  severityMapping: { unknown_severity: 'medium', none: 'low', error: 'high' },
  incidentType: 'intrusion',
  signature: 'token',
};
