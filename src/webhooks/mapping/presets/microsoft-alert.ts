import type { Preset } from '../preset.js';

export const MICROSOFT_ALERT: Preset = {
  name: 'microsoft_alert',
  title: 'Microsoft Defender, Graph security alerts and Sentinel',
  documentation:
    'Alerts of the Microsoft Graph security API, alerts_v2 (https://learn.microsoft.com/graph/api/resources/security-alert), one or a list; ' +
    'alerts of the Defender for Endpoint API (https://learn.microsoft.com/defender-endpoint/api/alerts); ' +
    'incidents and alerts of Microsoft Sentinel as its playbooks get them (https://learn.microsoft.com/azure/sentinel/automation/playbook-triggers-actions).',
  setUp: [
    'In Sentinel make an automation rule that runs a playbook (a Logic App) for new incidents or alerts; for Defender use a Logic App that lists new alerts of the Graph security API on a schedule.',
    'Add an HTTP action: POST to {url}, header X-Webhook-Token with the secret (as a secure parameter), body the whole trigger body or the alert.',
    'A Logic App cannot compute a signature over the body, so the source is registered with the signature `token`.',
    'Change notifications of Graph do not fit: they name an alert without saying what it is, and ask for an answer of their own.',
  ],
  mapping: {
    items: ['/value', ''],
    title: [
      ['/title', '/computerDnsName'],
      ['/title', '/evidence/0/deviceDnsName'],
      ['/title', '/evidence/0/subject'],
      ['/title', '/evidence/0/userAccount/userPrincipalName'],
      '/title',
      ['/object/properties/title', '/object/properties/incidentNumber'],
      '/object/properties/title',
      ['/AlertDisplayName', '/CompromisedEntity'],
      '/AlertDisplayName',
      '/DisplayName',
    ],
    severity: ['/severity', '/object/properties/severity', '/Severity', '/AlertSeverity'],
    event_id: ['/object/name', '/SystemAlertId', '/id'],
    type: ['/category'],
    lift: {
      sender: ['/evidence/0/p2Sender/emailAddress', '/evidence/0/p1Sender/emailAddress'],
      recipient: '/evidence/0/recipientEmailAddress',
      subject: '/evidence/0/subject',
      message_id: ['/evidence/0/internetMessageId', '/evidence/0/networkMessageId'],
      received_at: '/evidence/0/receivedDateTime',
      host: [
        '/computerDnsName',
        '/evidence/0/deviceDnsName',
        '/evidence/1/deviceDnsName',
        '/evidence/2/deviceDnsName',
        '/object/properties/relatedEntities/0/properties/hostName',
        '/object/properties/relatedEntities/1/properties/hostName',
        '/CompromisedEntity',
      ],
      user: [
        '/evidence/0/userAccount/userPrincipalName',
        '/evidence/1/userAccount/userPrincipalName',
        '/evidence/2/userAccount/userPrincipalName',
        '/relatedUser/userName',
        '/object/properties/relatedEntities/0/properties/accountName',
        '/object/properties/relatedEntities/1/properties/accountName',
      ],
      ip: [
        '/evidence/0/ipAddress',
        '/evidence/1/ipAddress',
        '/object/properties/relatedEntities/0/properties/address',
        '/object/properties/relatedEntities/1/properties/address',
      ],
      sha256: [
        '/evidence/0/fileDetails/sha256',
        '/evidence/1/fileDetails/sha256',
        '/evidence/0/sha256',
        '/evidence/1/sha256',
      ],
      account: ['/tenantId', '/aadTenantId', '/workspaceInfo/WorkspaceName'],
      description: ['/description', '/object/properties/description', '/Description'],
      link: ['/alertWebUrl', '/object/properties/incidentUrl', '/AlertLink'],
    },
  },
  severityMapping: { unknown: 'medium', unspecified: 'medium' },
  signature: 'token',
};
