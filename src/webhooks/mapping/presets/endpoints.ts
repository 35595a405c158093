import type { Preset } from '../../sources/webhook-source.js';

export const CORTEX_XDR: Preset = {
  name: 'cortex_xdr',
  title: 'Palo Alto Networks Cortex XDR',
  documentation:
    'Alerts and incidents as the API lists them, single or in a list (https://docs-cortex.paloaltonetworks.com/r/Cortex-XDR-REST-API/Get-all-Alerts, https://docs-cortex.paloaltonetworks.com/r/Cortex-XDR-REST-API/Get-all-Incidents).',
  setUp: [
    'Let a small scheduled job read new alerts (/public_api/v1/alerts/get_alerts) or incidents (/public_api/v1/incidents/get_incidents), and send the answer unchanged to {url}. An empty answer creates nothing.',
    'Choose either alerts or incidents: an incident of Cortex XDR contains its alerts, and both would become incidents here.',
    'The job can sign. If an automation in Cortex XSOAR sends them instead, register the source with `token`, and send the header X-Webhook-Token.',
  ],
  marks: [
    ['/reply/alerts'],
    ['/reply/incidents'],
    ['/alert_id', '/detection_timestamp'],
    ['/incident_id', '/xdr_url'],
  ],
  mapping: {
    items: ['/reply/alerts', '/reply/alerts/data', '/reply/incidents', ''],
    title: [['/name', '/host_name'], '/name', '/incident_name', '/description'],
    severity: '/severity',
    // Alerts and incidents count from 1, each for themselves.
    event_id: ['/alert_id', ['/incident_id', '/creation_time']],
    type: ['/category', '/name', '/mitre_tactic_id_and_name', '/alert_categories', '/description'],
    lift: {
      host: '/host_name',
      user: ['/user_name', '/users'],
      ip: '/action_remote_ip',
      domain: '/action_external_hostname',
      file: ['/action_file_path', '/action_process_image_path'],
      hash: ['/action_file_sha256', '/action_process_image_sha256', '/actor_process_image_sha256'],
      process: [
        '/action_process_image_command_line',
        '/actor_process_command_line',
        '/actor_process_image_name',
      ],
      outcome: '/action',
      rule: '/name',
      description: '/description',
      link: '/xdr_url',
    },
  },
  incidentType: 'intrusion',
  signature: 'timestamped',
};

export const CROWDSTRIKE_EPP: Preset = {
  name: 'crowdstrike_epp',
  title: 'CrowdStrike Falcon alerts and Fusion SOAR',
  documentation:
    'Alerts of the Falcon Alerts API, single or as `resources` (https://developer.crowdstrike.com/api-reference/collections/alerts/), and the same names in the body of a Fusion SOAR workflow. Event streams need no preset: they have the format endpoint_alert.',
  setUp: [
    'In Fusion SOAR create a workflow with the trigger Alert > EPP Detection, and add an HTTP request action: POST to {url}, header X-Webhook-Token with the secret.',
    'Its body is JSON with the names of the Alerts API and variables of the trigger as values: composite_id, display_name, severity_name, description, hostname, user_name, filename, cmdline, sha256, tactic, technique, falcon_host_link. composite_id is required, because it identifies repetitions.',
    'Do not use the webhook plugin of the Falcon store: the service cannot check its signature.',
  ],
  marks: [['/resources/0/composite_id'], ['/composite_id']],
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

export const FALCO: Preset = {
  name: 'falco',
  title: 'Falco (with Falcosidekick)',
  documentation:
    'Events of Falco as JSON (https://falco.org/docs/concepts/outputs/formatting/), forwarded by the webhook output of Falcosidekick (https://github.com/falcosecurity/falcosidekick/blob/master/docs/outputs/webhook.md).',
  setUp: [
    'In falco.yaml set json_output and json_include_output_property to true, and http_output to Falcosidekick. Falco itself cannot send a header with a secret.',
    'In Falcosidekick set webhook.address to {url}, webhook.customheaders to X-Webhook-Token with the secret, and webhook.minimumpriority, for example to warning.',
  ],
  marks: [['/rule', '/priority', '/output_fields']],
  mapping: {
    title: [
      ['/rule', '/output_fields/k8s.pod.name'],
      ['/rule', '/hostname'],
      ['/rule', '/output_fields/container.name'],
      '/rule',
      '/output',
    ],
    severity: '/priority',
    event_id: ['/uuid', ['/hostname', '/time', '/output'], ['/time', '/output']],
    type: ['/rule', '/tags/0', '/tags/1', '/tags/2'],
    lift: {
      host: ['/hostname', '/output_fields/evt.hostname'],
      user: '/output_fields/user.name',
      ip: ['/output_fields/fd.rip', '/output_fields/fd.sip'],
      file: '/output_fields/fd.name',
      process: ['/output_fields/proc.cmdline', '/output_fields/proc.name'],
      container: [
        '/output_fields/k8s.pod.name',
        '/output_fields/container.name',
        '/output_fields/container.id',
      ],
      resource: '/output_fields/container.image.repository',
      rule: '/rule',
      description: '/output',
    },
  },
  severityMapping: {
    emergency: 'critical',
    alert: 'critical',
    critical: 'critical',
    error: 'high',
    warning: 'medium',
    notice: 'low',
    informational: 'low',
    debug: 'low',
  },
  incidentType: 'intrusion',
  signature: 'token',
};

export const SENTINELONE: Preset = {
  name: 'sentinelone',
  title: 'SentinelOne Singularity',
  documentation:
    'Threats of the management API 2.1, single or as the `data` of a page (GET /web/api/v2.1/threats; the reference is in each console under /api-doc, and https://xsoar.pan.dev/docs/reference/integrations/sentinel-one-v2 lists the fields).',
  setUp: [
    'In Singularity Hyperautomation create a workflow that starts on new threats, and add an HTTP request action: POST to {url}, header X-Webhook-Token with the secret, body the threat of the trigger.',
    'Without Hyperautomation, let a small scheduled job read new threats from the management API and send them. It can sign: then register the source with the signature `timestamped`. The console itself sends only syslog and mail.',
    'A threat has no severity: malicious is high, suspicious medium. Change this in the severity_mapping of the source.',
  ],
  marks: [['/data/0/threatInfo'], ['/threatInfo']],
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

export const WAZUH: Preset = {
  name: 'wazuh',
  title: 'Wazuh',
  documentation:
    'Alerts of alerts.json, sent by an integration of the manager (https://documentation.wazuh.com/current/user-manual/manager/integration-with-external-apis.html), unchanged or as the field all_fields of the integration for Shuffle. Rules have levels from 0 to 16 (https://documentation.wazuh.com/current/user-manual/ruleset/rules/rules-classification.html).',
  setUp: [
    'On the manager add a script to /var/ossec/integrations with a name that begins with custom-. It reads the file in its first argument and sends the content to the address in its third argument, with its second argument in the header X-Webhook-Token. Integrations of Wazuh itself cannot send a header with a secret.',
    'In ossec.conf add an integration with this name, hook_url {url}, api_key the secret, alert_format json, and the minimum level of alerts, for example 7.',
    'Better, let the script sign with X-Webhook-Timestamp and X-Webhook-Signature, and register the source with the signature `timestamped`.',
  ],
  marks: [['/rule/level', '/agent', '/manager'], ['/all_fields/rule/level']],
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
