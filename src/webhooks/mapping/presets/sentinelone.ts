import type { Preset } from '../preset.js';

export const SENTINELONE: Preset = {
  name: 'sentinelone',
  title: 'SentinelOne Singularity',
  documentation:
    'Threats as the management API 2.1 has them, one or as the `data` of a page (GET /web/api/v2.1/threats; the reference is in each console under /api-doc, and its fields are listed at https://xsoar.pan.dev/docs/reference/integrations/sentinel-one-v2).',
  setUp: [
    'In Singularity Hyperautomation make a workflow that new threats start, and add an HTTP request action: POST to {url}, header X-Webhook-Token with the secret, body the threat as the trigger gives it.',
    'Without Hyperautomation, a small job that asks the management API for new threats can post them; such a job can sign, and then the source may be registered with the signature `timestamped`.',
    'The console itself sends notifications by syslog and mail only.',
    'A threat has no severity: malicious becomes high, suspicious medium. Change the severity_mapping of the source if you see it in another way.',
  ],
  mapping: {
    items: ['/data', ''],
    title: [
      ['/threatInfo/threatName', '/agentRealtimeInfo/agentComputerName'],
      ['/threatInfo/threatName', '/agentDetectionInfo/agentComputerName'],
      '/threatInfo/threatName',
    ],
    severity: '/threatInfo/confidenceLevel',
    event_id: ['/threatInfo/threatId', '/id'],
    type: ['/threatInfo/classification', '/threatInfo/threatName', '/indicators/0/category'],
    lift: {
      host: ['/agentRealtimeInfo/agentComputerName', '/agentDetectionInfo/agentComputerName'],
      user: ['/threatInfo/processUser', '/agentDetectionInfo/agentLastLoggedInUserName'],
      file: '/threatInfo/filePath',
      hash: '/threatInfo/sha256',
      process: ['/threatInfo/maliciousProcessArguments', '/threatInfo/originatorProcess'],
      rule: ['/indicators/0/description', '/threatInfo/detectionEngines/0/title'],
    },
  },
  severityMapping: { malicious: 'high', suspicious: 'medium', 'n/a': 'medium' },
  incidentType: 'malware',
  signature: 'token',
};
