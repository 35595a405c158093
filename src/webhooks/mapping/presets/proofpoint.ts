import type { Preset } from '../preset.js';

export const PROOFPOINT: Preset = {
  name: 'proofpoint',
  title: 'Proofpoint Targeted Attack Protection',
  documentation:
    'Answers of the TAP SIEM API with their four lists: messages that were delivered or blocked, clicks that were permitted or blocked (https://help.proofpoint.com/Threat_Insight_Dashboard/API_Documentation/SIEM_API).',
  setUp: [
    'TAP sends no webhooks: let a small scheduled job ask the SIEM API (/v2/siem/issues, or /v2/siem/all) for what is new and post the answer as it is to {url}. An answer whose lists are all empty need not be sent.',
    'Such a job can sign, so the source is registered with the signature `timestamped`: the headers X-Webhook-Timestamp and X-Webhook-Signature, the latter over the timestamp, a period and the body.',
    'An answer with more than 1000 events is answered 202 and settled in parts.',
    'TAP has no severity: malware, phish and impostor become high, spam low. Change the severity_mapping of the source if you see it in another way.',
  ],
  mapping: {
    items: ['/clicksPermitted', '/messagesDelivered', '/clicksBlocked', '/messagesBlocked'],
    title: [
      ['/subject', '/fromAddress'],
      ['/url', '/recipient'],
      '/subject',
      ['/threatsInfoMap/0/classification', '/fromAddress'],
      ['/classification', '/recipient'],
    ],
    severity: ['/threatsInfoMap/0/classification', '/classification'],
    // A click has the GUID of its message, too, so its own id comes first.
    event_id: ['/id', '/GUID'],
    type: ['/threatsInfoMap/0/classification', '/classification'],
    lift: {
      // `sender` is the envelope's, a new bounce address for each mail.
      sender: ['/fromAddress', '/headerFrom'],
      recipient: '/recipient',
      subject: '/subject',
      message_id: ['/messageID', '/GUID'],
      received_at: ['/messageTime', '/clickTime'],
      ip: ['/senderIP', '/clickIP'],
      url: ['/url', '/threatsInfoMap/[threatType=url]/threat'],
      file: '/messageParts/[disposition=attached]/filename',
      hash: [
        '/messageParts/[disposition=attached]/sha256',
        '/threatsInfoMap/[threatType=attachment]/threat',
      ],
      rule: ['/threatsInfoMap/0/threatType', '/classification'],
      link: ['/threatsInfoMap/0/threatUrl', '/threatURL'],
    },
  },
  severityMapping: {
    malware: 'high',
    phish: 'high',
    impostor: 'high',
    toad: 'high',
    spam: 'low',
  },
  // A mail that brings malware is quarantined as a mail.
  typeMapping: { malware: 'phishing', impostor: 'bec', toad: 'phishing' },
  incidentType: 'phishing',
  signature: 'timestamped',
};
