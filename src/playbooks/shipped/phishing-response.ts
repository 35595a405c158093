import type { ShippedPlaybook } from '../playbook.js';
import {
  IS_MALICIOUS,
  IS_SUSPECT,
  teamMessage,
  TICKET_TITLE,
  ticketText,
} from './shipped-expressions.js';

/** All addresses that received the mail. Null, which leaves the parameter out, if none is known. */
const RECIPIENTS =
  '{{ has(incident.fields.recipients) ? incident.fields.recipients : has(incident.fields.recipient) ? incident.fields.recipient : null }}';

export const PHISHING_RESPONSE: ShippedPlaybook = {
  name: 'phishing-response',
  definition: {
    description:
      'For a mail that somebody reported or a gateway found: looks up where it leads, opens a ticket, tells the team, takes the mail out of the mailbox, warns who got it, and asks an analyst whether to block who sent it.',
    enabled: true,
    triggers: {
      incident_types: ['phishing', 'bec'],
      severities: ['high', 'critical'],
      sources: [],
    },
    auto_run: false,
    trust_verdict: false,
    instructions: `Find out who really sent the mail: compare the address of the sender, the address for replies and the names of the domains with the ones that they pretend to be, and see what the checks of SPF, DKIM and DMARC say.
Look up each link and each domain before you judge.
A request for money, for a password or for a changed bank account is a reason to be strict, also when the sender is known: an account may have been taken over.
Advertising that nobody asked for is spam and not phishing.`,
    variables: { channel: '#security-incidents', ticket_priority: 'high' },
    steps: [
      {
        name: 'look_up_link',
        action: 'lookup_url',
        parameters: { url: '{{ incident.fields.url }}' },
        condition: 'has(incident.fields.url) && incident.fields.url.startsWith("http")',
        on_error: 'continue',
      },
      {
        name: 'look_up_sender',
        action: 'lookup_domain',
        parameters: { domain: '{{ incident.fields.sender.split("@")[1] }}' },
        condition: 'has(incident.fields.sender) && incident.fields.sender.contains("@")',
        on_error: 'continue',
      },
      {
        name: 'open_ticket',
        action: 'create_ticket',
        parameters: {
          title: TICKET_TITLE,
          description: ticketText(
            { sender: 'Sender', recipient: 'Recipient', subject: 'Subject', url: 'Link' },
            {
              'Look-up of the link': 'look_up_link',
              'Look-up of the domain of the sender': 'look_up_sender',
            },
          ),
          priority: '{{ variables.ticket_priority }}',
        },
        on_error: 'continue',
      },
      {
        name: 'tell_team',
        action: 'notify_channel',
        parameters: {
          channel: '{{ variables.channel }}',
          message: teamMessage('phishing-response', { sender: 'Sender', recipient: 'Recipient' }),
        },
        on_error: 'continue',
      },
      {
        name: 'quarantine',
        action: 'quarantine_email',
        parameters: {
          message_id: '{{ incident.fields.message_id }}',
          recipient: RECIPIENTS,
          reason: 'Phishing, {{ incident.incident_number }}',
        },
        condition: `has(incident.fields.message_id) && ${IS_SUSPECT}`,
        on_error: 'continue',
      },
      {
        name: 'warn_recipient',
        action: 'notify_user',
        parameters: {
          recipient: RECIPIENTS,
          subject: 'A mail was taken out of your mailbox',
          message:
            'A mail to you looked like phishing, and we took it out of your mailbox. If you followed a link in it, opened a file or answered, please tell the security team now and name {{ incident.incident_number }}. Otherwise you need not do anything.',
        },
        condition:
          '(has(incident.fields.recipient) || has(incident.fields.recipients)) && has(steps.quarantine.result) && steps.quarantine.result.success',
        on_error: 'continue',
      },
      {
        name: 'block_sender',
        action: 'block_sender',
        parameters: {
          sender: '{{ incident.fields.sender }}',
          reason: 'Phishing, {{ incident.incident_number }}',
        },
        condition: `has(incident.fields.sender) && ${IS_MALICIOUS}`,
        approval_level: 'analyst',
        on_error: 'continue',
      },
    ],
  },
};
