import type { Preset } from '../preset.js';

export const GUARDDUTY: Preset = {
  name: 'guardduty',
  title: 'Amazon GuardDuty',
  documentation:
    'Findings as GuardDuty sends them to Amazon EventBridge (https://docs.aws.amazon.com/guardduty/latest/ug/guardduty_findings_eventbridge.html), ' +
    'with its scale of severities from 1 to 10 (https://docs.aws.amazon.com/guardduty/latest/ug/guardduty_findings-severity.html).',
  setUp: [
    'In EventBridge make a connection of the type API key: name X-Webhook-Token, value the secret.',
    'Make an API destination with this connection: POST to {url}.',
    'Make a rule with the event pattern {"source":["aws.guardduty"],"detail-type":["GuardDuty Finding"]} and the API destination as its target. Send the matched event as it is.',
    'An API destination cannot compute a signature over the body, so the source is registered with the signature `token`.',
  ],
  mapping: {
    title: '/detail/title',
    severity: '/detail/severity',
    event_id: ['/detail/id', '/detail/arn'],
    type: ['/detail/type', '/detail/title'],
    lift: {
      host: '/detail/resource/instanceDetails/instanceId',
      user: '/detail/resource/accessKeyDetails/userName',
      ip: [
        '/detail/service/action/networkConnectionAction/remoteIpDetails/ipAddressV4',
        '/detail/service/action/awsApiCallAction/remoteIpDetails/ipAddressV4',
        '/detail/service/action/portProbeAction/portProbeDetails/0/remoteIpDetails/ipAddressV4',
        '/detail/service/action/kubernetesApiCallAction/remoteIpDetails/ipAddressV4',
      ],
      domain: '/detail/service/action/dnsRequestAction/domain',
      account: '/detail/accountId',
      resource: [
        '/detail/resource/s3BucketDetails/0/arn',
        '/detail/resource/eksClusterDetails/arn',
      ],
      rule: '/detail/type',
      description: '/detail/description',
    },
  },
  severityMapping: { '0-3': 'low', '4-6': 'medium', '7-8': 'high', '9-10': 'critical' },
  incidentType: 'intrusion',
  signature: 'token',
};
