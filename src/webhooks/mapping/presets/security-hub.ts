import type { Preset } from '../preset.js';

export const SECURITY_HUB: Preset = {
  name: 'security_hub',
  title: 'AWS Security Hub',
  documentation:
    'Events of Amazon EventBridge with a list of findings: those of Security Hub CSPM in the AWS Security Finding Format (https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-cwe-event-formats.html), ' +
    'and those of Security Hub in OCSF (https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-v2-cwe-event-formats.html).',
  setUp: [
    'In EventBridge make a connection of the type API key: name X-Webhook-Token, value the secret.',
    'Make an API destination with this connection: POST to {url}.',
    'Make a rule with the source aws.securityhub and the detail type "Security Hub Findings - Imported", or "Findings Imported V2" for OCSF. Choose in its pattern which severities, and of the former only findings whose Workflow.Status is NEW and whose RecordState is ACTIVE: without it every passed check becomes an incident.',
    'An API destination cannot compute a signature over the body, so the source is registered with the signature `token`.',
  ],
  mapping: {
    items: '/detail/findings',
    title: [
      ['/Title', '/Resources/0/Id'],
      '/Title',
      ['/finding_info/title', '/resources/0/uid'],
      '/finding_info/title',
    ],
    severity: ['/Severity/Label', '/Severity/Normalized', '/severity'],
    event_id: ['/Id', '/finding_info/uid', '/metadata/uid'],
    type: ['/finding_info/types', '/finding_info/title', '/Types/0', '/Title'],
    lift: {
      ip: ['/Network/SourceIpV4', '/Action/NetworkConnectionAction/RemoteIpDetails/IpAddressV4'],
      account: ['/AwsAccountId', '/cloud/account/uid'],
      resource: ['/Resources/0/Id', '/resources/0/uid'],
      rule: [
        '/Compliance/SecurityControlId',
        '/GeneratorId',
        '/compliance/control',
        '/finding_info/analytic/uid',
      ],
      description: ['/Description', '/finding_info/desc'],
      link: ['/SourceUrl', '/finding_info/src_url'],
    },
  },
  severityMapping: {
    informational: 'low',
    fatal: 'critical',
    unknown: 'medium',
    other: 'medium',
    '0-39': 'low',
    '40-69': 'medium',
    '70-89': 'high',
    '90-100': 'critical',
  },
  incidentType: 'policy_violation',
  signature: 'token',
};
