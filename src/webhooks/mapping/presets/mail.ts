import type { Preset } from '../../sources/webhook-source.js';

export const ABNORMAL: Preset = {
  name: 'abnormal',
  title: 'Abnormal Security',
  documentation:
    'Threats as the API has them, each with its messages (GET /v1/threats/{threatId}, https://app.swaggerhub.com/apis/abnormal-security/abx). Each message is an incident.',
  setUp: [
    'Let a small scheduled job list the new threats (/v1/threats), ask for the details of each and post the answer as it is to {url}. Several answers may be one JSON list.',
    'Such a job can sign, so the source is registered with the signature `timestamped`: the headers X-Webhook-Timestamp and X-Webhook-Signature, the latter over the timestamp, a period and the body.',
    'A message has no severity but a kind of attack: an account that was taken over is critical, other attacks are high, scams medium, spam low. Change the severity_mapping of the source if you see it in another way.',
  ],
  marks: [['/threatId', '/messages'], ['/abxMessageId']],
  mapping: {
    items: ['/messages', ''],
    title: [['/subject', '/fromAddress'], '/subject', ['/attackType', '/fromAddress']],
    severity: '/attackType',
    event_id: ['/abxMessageIdStr', '/abxMessageId'],
    type: ['/attackType', '/attackStrategy'],
    lift: {
      sender: '/fromAddress',
      recipient: ['/recipientAddress', '/toAddresses'],
      subject: '/subject',
      message_id: '/internetMessageId',
      received_at: '/receivedTime',
      ip: '/senderIpAddress',
      domain: '/senderDomain',
      url: '/urls',
      file: '/attachmentNames',
      rule: '/attackType',
      description: '/summaryInsights',
      link: '/abxPortalUrl',
    },
  },
  severityMapping: {
    'internal-to-internal attacks (email account takeover)': 'critical',
    'phishing: credential': 'high',
    'phishing: sensitive data': 'high',
    'invoice/payment fraud (bec)': 'high',
    'social engineering (bec)': 'high',
    malware: 'high',
    extortion: 'high',
    reconnaissance: 'medium',
    scam: 'medium',
    other: 'medium',
    spam: 'low',
    graymail: 'low',
  },
  // A mail that brings malware is quarantined as a mail.
  typeMapping: {
    'account takeover': 'account_takeover',
    '(BEC)': 'bec',
    malware: 'phishing',
    graymail: 'spam',
  },
  incidentType: 'phishing',
  signature: 'timestamped',
};

export const MIMECAST: Preset = {
  name: 'mimecast',
  title: 'Mimecast Targeted Threat Protection',
  documentation:
    'Answers of the API for logs of URL Protect, Attachment Protect and Impersonation Protect (https://integrations.mimecast.com/documentation/endpoint-reference/logs-and-statistics/).',
  setUp: [
    'Let a small scheduled job ask /api/ttp/url/get-logs, /api/ttp/attachment/get-logs and /api/ttp/impersonation/get-logs for what is new and post each answer as it is to {url}. Ask for malicious results only (scanResult, result): else every click that is clean becomes an incident.',
    'Such a job can sign, so the source is registered with the signature `timestamped`: the headers X-Webhook-Timestamp and X-Webhook-Signature, the latter over the timestamp, a period and the body.',
    'A malicious result becomes high, a clean one low, and an impersonation medium, because Mimecast says no severity for it. Change the severity_mapping or min_severity of the source if you see it in another way.',
  ],
  marks: [['/data/0/clickLogs'], ['/data/0/attachmentLogs'], ['/data/0/impersonationLogs']],
  mapping: {
    items: ['/data/0/clickLogs', '/data/0/attachmentLogs', '/data/0/impersonationLogs'],
    title: [
      ['/subject', '/fromUserEmailAddress'],
      ['/subject', '/senderAddress'],
      ['/url', '/userEmailAddress'],
      ['/fileName', '/recipientAddress'],
      '/subject',
      '/definition',
    ],
    severity: ['/scanResult', '/result'],
    event_id: [
      '/id',
      ['/messageId', '/userEmailAddress', '/url', '/date'],
      ['/messageId', '/recipientAddress', '/fileHash'],
      ['/userEmailAddress', '/url', '/date'],
    ],
    type: ['/category', '/identifiers', '/definition', '/ttpDefinition'],
    lift: {
      sender: ['/fromUserEmailAddress', '/senderAddress'],
      recipient: ['/userEmailAddress', '/recipientAddress'],
      subject: '/subject',
      message_id: '/messageId',
      received_at: '/eventTime',
      ip: ['/senderIpAddress', '/sendingIp'],
      url: '/url',
      file: '/fileName',
      hash: '/fileHash',
      outcome: ['/action', '/actionTriggered'],
      rule: ['/definition', '/ttpDefinition'],
      description: '/details',
    },
  },
  severityMapping: {
    malicious: 'high',
    suspicious: 'medium',
    clean: 'low',
    safe: 'low',
    unknown: 'medium',
    timeout: 'medium',
    error: 'medium',
  },
  typeMapping: {
    internal_user_name: 'bec',
    similar_internal_domain: 'bec',
    newly_observed_domain: 'bec',
    reply_address_mismatch: 'bec',
    targeted_threat_dictionary: 'bec',
    malware: 'phishing',
  },
  incidentType: 'phishing',
  signature: 'timestamped',
};

export const PROOFPOINT: Preset = {
  name: 'proofpoint',
  title: 'Proofpoint Targeted Attack Protection',
  documentation:
    'Answers of the TAP SIEM API with their four lists: messages that were delivered or blocked, clicks that were permitted or blocked (https://help.proofpoint.com/Threat_Insight_Dashboard/API_Documentation/SIEM_API).',
  setUp: [
    'TAP sends no webhooks: let a small scheduled job ask the SIEM API (/v2/siem/issues, or /v2/siem/all) for what is new and post the answer as it is to {url}. An answer whose lists are all empty makes nothing.',
    'Such a job can sign, so the source is registered with the signature `timestamped`: the headers X-Webhook-Timestamp and X-Webhook-Signature, the latter over the timestamp, a period and the body.',
    'An answer with more than 1000 events is answered 202 and settled in parts.',
    'TAP has no severity: malware, phish and impostor become high, spam low. Change the severity_mapping of the source if you see it in another way.',
  ],
  marks: [['/messagesDelivered'], ['/messagesBlocked'], ['/clicksPermitted'], ['/clicksBlocked']],
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

export const SUBLIME: Preset = {
  name: 'sublime',
  title: 'Sublime Security',
  documentation:
    'The event message.flagged of a webhook action (https://docs.sublime.security/docs/webhooks). Where an event also holds the message data model (https://docs.sublime.security/docs/mdm), sender and subject are read from it.',
  setUp: [
    'In Sublime under Actions make a new action of the type Webhook to {url}, with the custom header X-Webhook-Token and the secret as its value.',
    'Choose this action in the rules and automations whose messages should become incidents.',
    'Sublime signs with a header and a form of its own, which this service does not check: the custom header is what it goes by, so the source is registered with the signature `token`.',
    'The event names the message by ids and not by subject or sender: an analyst finds them in Sublime.',
  ],
  marks: [['/data/flagged_rules', '/data/message']],
  mapping: {
    title: [
      ['/data/flagged_rules/0/name', '/data/message/subject/subject'],
      ['/data/flagged_rules/0/name', '/data/message/mailbox/external_id'],
      ['/data/flagged_rules/0/name', '/data/message/id'],
      '/data/flagged_rules/0/name',
    ],
    severity: '/data/flagged_rules/0/severity',
    event_id: ['/data/message/id', '/id'],
    type: ['/data/flagged_rules/0/name', '/data/flagged_rules/0/tags/0'],
    lift: {
      sender: '/data/message/sender/email/email',
      recipient: ['/data/message/mailbox/email/email', '/data/message/recipients/to/0/email/email'],
      subject: '/data/message/subject/subject',
      message_id: ['/data/message/headers/message_id', '/data/message/external_id'],
      received_at: ['/data/message/headers/date', '/created_at'],
      url: '/data/message/body/links/0/href_url/url',
      file: '/data/message/attachments/0/file_name',
      hash: '/data/message/attachments/0/sha256',
      rule: '/data/flagged_rules/0/name',
    },
  },
  incidentType: 'phishing',
  signature: 'token',
};
