import type { Preset } from '../../sources/webhook-source.js';

export const ABNORMAL: Preset = {
  name: 'abnormal',
  title: 'Abnormal Security',
  documentation:
    'Threats of the API, each with its messages (GET /v1/threats/{threatId}, https://app.swaggerhub.com/apis/abnormal-security/abx). Each message is an incident.',
  setUp: [
    'Let a small scheduled job list new threats (/v1/threats), read the details of each, and send each answer unchanged to {url}. Several answers may be one JSON list.',
    'The job can sign: X-Webhook-Signature signs the timestamp in X-Webhook-Timestamp, a period and the body.',
    'A message has an attack type instead of a severity: an account takeover is critical, other attacks are high, scams medium, spam low. Change this in the severity_mapping of the source.',
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
    'Let a small scheduled job read new entries from /api/ttp/url/get-logs, /api/ttp/attachment/get-logs and /api/ttp/impersonation/get-logs, and send each answer unchanged to {url}. Read malicious results only (scanResult, result); otherwise each clean click becomes an incident.',
    'The job can sign: X-Webhook-Signature signs the timestamp in X-Webhook-Timestamp, a period and the body.',
    'A malicious result is high, a clean result low. An impersonation has no severity and is medium. Change this in the severity_mapping or min_severity of the source.',
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
    'Answers of the TAP SIEM API with four lists: delivered and blocked messages, permitted and blocked clicks (https://help.proofpoint.com/Threat_Insight_Dashboard/API_Documentation/SIEM_API).',
  setUp: [
    'TAP sends no webhooks: let a small scheduled job read new events from the SIEM API (/v2/siem/issues or /v2/siem/all), and send each answer unchanged to {url}. An answer with empty lists creates nothing, and an answer with more than 1,000 events gets 202.',
    'The job can sign: X-Webhook-Signature signs the timestamp in X-Webhook-Timestamp, a period and the body.',
    'TAP has no severity: malware, phish and impostor are high, spam low. Change this in the severity_mapping of the source.',
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
    'The event message.flagged of a webhook action (https://docs.sublime.security/docs/webhooks). If an event also contains the message data model (https://docs.sublime.security/docs/mdm), sender and subject are read from it.',
  setUp: [
    "In Sublime under Actions create an action of the type Webhook to {url}, with the custom header X-Webhook-Token and the secret as its value. The service cannot check Sublime's own signature.",
    'Choose this action in the rules and automations whose messages should become incidents.',
    'The event contains ids instead of subject and sender: an analyst finds the message in Sublime.',
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
