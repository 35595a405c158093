import type { Preset } from '../../sources/webhook-source.js';

export const AZURE_MONITOR: Preset = {
  name: 'azure_monitor',
  title: 'Azure Monitor',
  documentation:
    'Alerts in the common alert schema (https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-common-schema). Alerts of Sentinel and Defender need the preset microsoft_alert.',
  setUp: [
    'In the action group choose a Logic App as the action, and enable the common alert schema. The webhook action cannot send a header with a secret.',
    'The Logic App has the trigger for an HTTP request and one HTTP action: POST to {url}, header X-Webhook-Token with the secret (as a secure parameter), body of the trigger as the body.',
    'Sev0 is critical, Sev1 high, Sev2 medium, Sev3 and Sev4 low.',
    'A resolved alert updates its incident.',
  ],
  marks: [['/schemaId', '/data/essentials/alertId']],
  mapping: {
    title: [
      ['/data/essentials/alertRule', '/data/essentials/configurationItems'],
      '/data/essentials/alertRule',
    ],
    severity: '/data/essentials/severity',
    event_id: '/data/essentials/alertId',
    type: [
      '/data/essentials/alertRule',
      '/data/essentials/description',
      '/data/alertContext/operationName',
    ],
    lift: {
      host: '/data/alertContext/condition/allOf/0/dimensions/[name=Computer]/value',
      user: '/data/alertContext/caller',
      resource: '/data/essentials/alertTargetIDs',
      outcome: '/data/alertContext/status',
      rule: '/data/essentials/alertRule',
      description: '/data/essentials/description',
      link: [
        '/data/alertContext/condition/allOf/0/linkToSearchResultsUI',
        '/data/essentials/investigationLink',
      ],
    },
  },
  severityMapping: { sev0: 'critical', sev1: 'high', sev2: 'medium', sev3: 'low', sev4: 'low' },
  signature: 'token',
};

export const CLOUDFLARE: Preset = {
  name: 'cloudflare',
  title: 'Cloudflare notifications',
  documentation:
    'The body of a generic webhook (https://developers.cloudflare.com/notifications/reference/webhook-payload-schema/).',
  setUp: [
    'Under Notifications > Destinations create a webhook to {url} with the secret of the source. Cloudflare sends the secret in the header cf-webhook-auth.',
    'When you save the webhook, Cloudflare sends a test message, which becomes an incident. Resolve it.',
    'Create notifications for events that need a person: DDoS attacks, security events, origin errors, certificates.',
    'The body has no severity, so the kind of alert decides. Add further kinds to the severity_mapping of the source.',
  ],
  marks: [['/alert_type', '/policy_id', '/account_id']],
  mapping: {
    title: [
      ['/name', '/data/target_hostname'],
      ['/name', '/data/target_ip'],
      ['/name', '/data/zone_name'],
      ['/name', '/data/attack_id'],
      ['/policy_name', '/alert_type'],
      ['/name', '/alert_type'],
      '/name',
      '/text',
    ],
    severity: ['/data/severity', '/alert_type'],
    event_id: ['/alert_correlation_id', ['/policy_id', '/ts', '/text']],
    type: ['/alert_type', '/name'],
    lift: {
      host: ['/data/target_hostname', '/data/target_ip'],
      domain: '/data/zone_name',
      account: '/data/account_name',
      rule: '/alert_type',
      description: '/text',
      link: '/data/dashboard_link',
    },
  },
  severityMapping: {
    dos_attack_l4: 'high',
    dos_attack_l7: 'high',
    advanced_ddos_attack_l4_alert: 'high',
    advanced_ddos_attack_l7_alert: 'high',
    clickhouse_alert_fw_anomaly: 'medium',
    clickhouse_alert_fw_ent_anomaly: 'medium',
    http_alert_origin_error: 'medium',
    health_check_status_notification: 'medium',
    universal_ssl_event_type: 'low',
  },
  signature: 'token',
};

export const GITHUB: Preset = {
  name: 'github',
  title: 'GitHub security alerts',
  documentation:
    'The events code_scanning_alert, secret_scanning_alert and dependabot_alert (https://docs.github.com/webhooks/webhook-events-and-payloads).',
  setUp: [
    'In the settings of the repository or the organisation create a webhook to {url} with the content type application/json and the secret.',
    'Choose individual events: code scanning alerts, secret scanning alerts, Dependabot alerts.',
    'GitHub signs the body in X-Hub-Signature-256, without a time.',
    'When you save the webhook, GitHub sends a ping. It gets 422 and is kept as a failed event.',
    'A leaked secret has no severity: a valid secret is critical, a secret of unknown validity high, an invalid secret low.',
  ],
  marks: [['/action', '/alert/html_url', '/repository/full_name']],
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

export const GOOGLE_SECOPS: Preset = {
  name: 'google_secops',
  title: 'Google Security Operations (Chronicle)',
  documentation:
    'Detections of rules as the API lists them, single or in a list (https://cloud.google.com/chronicle/docs/reference/detection-engine-api#listdetections).',
  setUp: [
    'Google SecOps sends no webhooks for detections. Add an HTTP action with the detection as the body to a playbook of its SOAR part, or let a small scheduled job list the new detections and send them as {"detections":[...]}.',
    'POST to {url}, header X-Webhook-Token with the secret.',
    'Your own job can sign: then register the source with the signature `timestamped`.',
  ],
  marks: [['/detections/0/detection'], ['/detection/0/ruleName']],
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

export const GUARDDUTY: Preset = {
  name: 'guardduty',
  title: 'Amazon GuardDuty',
  documentation:
    'Findings as GuardDuty sends them to Amazon EventBridge (https://docs.aws.amazon.com/guardduty/latest/ug/guardduty_findings_eventbridge.html), with severities from 1 to 10 (https://docs.aws.amazon.com/guardduty/latest/ug/guardduty_findings-severity.html).',
  setUp: [
    'In EventBridge create a connection of the type API key: name X-Webhook-Token, value the secret.',
    'Create an API destination with this connection: POST to {url}.',
    'Create a rule with the event pattern {"source":["aws.guardduty"],"detail-type":["GuardDuty Finding"]} and the API destination as its target. Send the matched event unchanged.',
  ],
  marks: [
    ['/detail/service/detectorId'],
    ['/detail/schemaVersion', '/detail/service', '/detail/resource'],
    ['/service/detectorId'],
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

export const MICROSOFT_ALERT: Preset = {
  name: 'microsoft_alert',
  title: 'Microsoft Defender, Graph security alerts and Sentinel',
  documentation:
    'Alerts of the Microsoft Graph security API, alerts_v2 (https://learn.microsoft.com/graph/api/resources/security-alert), single or in a list; alerts of the Defender for Endpoint API (https://learn.microsoft.com/defender-endpoint/api/alerts); incidents and alerts of Microsoft Sentinel in its playbooks (https://learn.microsoft.com/azure/sentinel/automation/playbook-triggers-actions).',
  setUp: [
    'In Sentinel create an automation rule that runs a playbook (a Logic App) for new incidents or alerts. For Defender create a Logic App that lists new alerts of the Graph security API on a schedule.',
    'Add an HTTP action: POST to {url}, header X-Webhook-Token with the secret (as a secure parameter), body the whole trigger body or the alert.',
    'Change notifications of Graph do not work: they contain no details of an alert, and need a special answer.',
  ],
  marks: [
    ['/serviceSource', '/detectionSource'],
    ['/value/0/serviceSource'],
    ['/object/properties/incidentNumber'],
    ['/SystemAlertId'],
    ['/computerDnsName', '/alertCreationTime'],
  ],
  mapping: {
    items: ['/value', ''],
    title: [
      ['/title', '/computerDnsName'],
      ['/title', '/evidence/0/deviceDnsName'],
      ['/title', '/evidence/0/subject'],
      ['/title', '/evidence/0/userAccount/userPrincipalName'],
      '/title',
      '/object/properties/title',
      ['/AlertDisplayName', '/CompromisedEntity'],
      '/AlertDisplayName',
      '/DisplayName',
    ],
    severity: ['/severity', '/object/properties/severity', '/Severity', '/AlertSeverity'],
    event_id: ['/object/name', '/SystemAlertId', '/id'],
    type: [
      '/category',
      '/title',
      '/object/properties/title',
      '/object/properties/tactics',
      '/AlertDisplayName',
      '/AlertType',
      '/DisplayName',
    ],
    lift: {
      sender: ['/evidence/[p2Sender]/p2Sender/emailAddress'],
      recipient: '/evidence/[recipientEmailAddress]/recipientEmailAddress',
      subject: '/evidence/[subject]/subject',
      message_id: [
        '/evidence/[internetMessageId]/internetMessageId',
        '/evidence/[networkMessageId]/networkMessageId',
      ],
      received_at: '/evidence/[receivedDateTime]/receivedDateTime',
      host: [
        '/computerDnsName',
        '/evidence/[deviceDnsName]/deviceDnsName',
        '/object/properties/relatedEntities/[kind=Host]/properties/hostName',
        '/CompromisedEntity',
      ],
      user: [
        '/evidence/[userAccount]/userAccount/userPrincipalName',
        '/relatedUser/userName',
        '/object/properties/relatedEntities/[kind=Account]/properties/accountName',
      ],
      ip: [
        '/evidence/[ipAddress]/ipAddress',
        '/object/properties/relatedEntities/[kind=Ip]/properties/address',
      ],
      url: ['/evidence/[url]/url', '/evidence/[urls]/urls', '/evidence/0/url'],
      file: ['/evidence/[fileDetails]/fileDetails/fileName', '/evidence/[fileName]/fileName'],
      hash: ['/evidence/[fileDetails]/fileDetails/sha256', '/evidence/[sha256]/sha256'],
      process: '/evidence/[processCommandLine]/processCommandLine',
      description: ['/description', '/object/properties/description', '/Description'],
      link: ['/alertWebUrl', '/object/properties/incidentUrl', '/AlertLink'],
    },
  },
  severityMapping: { unknown: 'medium', unspecified: 'medium' },
  signature: 'token',
};

export const OKTA: Preset = {
  name: 'okta',
  title: 'Okta event hooks',
  documentation:
    'Event hooks with one or several events per body (https://developer.okta.com/docs/concepts/event-hooks/). An event is an entry of the System Log (https://developer.okta.com/docs/api/openapi/okta-management/management/tag/SystemLog/).',
  setUp: [
    'Register the source first, because Okta verifies the address of a hook, and only an enabled source answers.',
    'In the Admin Console under Workflow > Event Hooks create a hook to {url}, with the authentication field X-Webhook-Token and the secret as authentication secret, and verify it.',
    'Choose only events that need a person, such as security.threat.detected, user.account.lock or user.session.access_admin_app. A hook for logins creates an incident for each login.',
  ],
  marks: [
    ['/cloudEventsVersion', '/data/events'],
    ['/eventType', '/data/events/0/uuid'],
  ],
  mapping: {
    items: '/data/events',
    title: [['/displayMessage', '/actor/alternateId'], '/displayMessage', '/eventType'],
    severity: '/severity',
    event_id: '/uuid',
    type: ['/displayMessage', '/eventType'],
    lift: {
      user: ['/actor/alternateId', '/target/0/alternateId'],
      ip: ['/client/ipAddress', '/request/ipChain/0/ip'],
      resource: '/target/0/displayName',
      rule: '/eventType',
      outcome: '/outcome/result',
      description: '/outcome/reason',
    },
  },
  severityMapping: { debug: 'low', info: 'low', warn: 'medium', error: 'high' },
  incidentType: 'suspicious_login',
  signature: 'token',
};

export const SECURITY_HUB: Preset = {
  name: 'security_hub',
  title: 'AWS Security Hub',
  documentation:
    'Events of Amazon EventBridge with a list of findings: of Security Hub CSPM in the AWS Security Finding Format (https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-cwe-event-formats.html), or of Security Hub in OCSF (https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-v2-cwe-event-formats.html).',
  setUp: [
    'In EventBridge create a connection of the type API key: name X-Webhook-Token, value the secret.',
    'Create an API destination with this connection: POST to {url}.',
    'Create a rule with the source aws.securityhub and the detail type "Security Hub Findings - Imported", or "Findings Imported V2" for OCSF. Choose severities in its pattern. For the former choose also Workflow.Status NEW and RecordState ACTIVE; otherwise each passed check becomes an incident.',
  ],
  marks: [['/detail/findings/0'], ['/Findings/0/ProductArn']],
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
