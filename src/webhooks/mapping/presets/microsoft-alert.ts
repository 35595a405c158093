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
