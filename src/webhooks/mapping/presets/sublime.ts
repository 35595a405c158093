import type { Preset } from '../preset.js';

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
