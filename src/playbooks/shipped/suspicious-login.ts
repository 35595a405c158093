import type { ShippedPlaybook } from '../playbook.js';
import {
  HAS_PERSON,
  IS_MALICIOUS,
  IS_SUSPECT,
  teamMessage,
  TICKET_TITLE,
  ticketText,
} from './shipped-expressions.js';

export const SUSPICIOUS_LOGIN: ShippedPlaybook = {
  name: 'suspicious-login',
  definition: {
    description:
      'For a login that its user may not have made: looks up the address, opens a ticket, tells the team, and asks people whether to end the sessions, to have a new password chosen, to disable the account, and to block the address for a day.',
    enabled: true,
    triggers: {
      incident_types: ['suspicious_login', 'account_takeover', 'brute_force'],
      severities: ['high', 'critical'],
      sources: [],
    },
    auto_run: false,
    trust_verdict: false,
    instructions: `Find out whether the login succeeded, and whether a second factor was asked for and given.
Look up the address before you judge. A data centre or an anonymising network is stranger for a person than a home or a phone.
Two places that nobody reaches in the time between, many refused prompts of a second factor before one is accepted, and new rules for forwarding mail right after the login are strong signs.
Travel, a new device and a company network that leaves the house elsewhere explain much: say which of them the data shows, and do not take one for granted that it does not show.`,
    variables: { channel: '#security-incidents', ticket_priority: 'high', block_minutes: 1440 },
    steps: [
      {
        name: 'look_up_address',
        action: 'lookup_ip',
        parameters: { ip: '{{ incident.fields.ip }}' },
        condition: 'has(incident.fields.ip)',
        on_error: 'continue',
      },
      {
        name: 'open_ticket',
        action: 'create_ticket',
        parameters: {
          title: TICKET_TITLE,
          description: ticketText(
            { user: 'User', outcome: 'Outcome', ip: 'Address', host: 'Host' },
            { 'Look-up of the address': 'look_up_address' },
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
          message: teamMessage('suspicious-login', { user: 'User', ip: 'Address' }),
        },
        on_error: 'continue',
      },
      {
        name: 'end_sessions',
        action: 'revoke_sessions',
        parameters: {
          user: '{{ incident.fields.user }}',
          reason: 'Suspicious login, {{ incident.incident_number }}',
        },
        condition: `${HAS_PERSON} && ${IS_SUSPECT}`,
        approval_level: 'analyst',
        on_error: 'continue',
      },
      {
        name: 'new_password',
        action: 'reset_password',
        parameters: {
          user: '{{ incident.fields.user }}',
          reason: 'Suspicious login, {{ incident.incident_number }}',
        },
        condition: `${HAS_PERSON} && ${IS_MALICIOUS}`,
        approval_level: 'senior',
        on_error: 'continue',
      },
      {
        name: 'disable',
        action: 'disable_user',
        parameters: {
          user: '{{ incident.fields.user }}',
          reason: 'Account taken over, {{ incident.incident_number }}',
        },
        condition: `${HAS_PERSON} && incident.severity == "critical" && ${IS_MALICIOUS}`,
        approval_level: 'senior',
        on_error: 'continue',
      },
      {
        name: 'block_address',
        action: 'block_ip',
        parameters: {
          ip: '{{ incident.fields.ip }}',
          duration_minutes: '{{ variables.block_minutes }}',
          reason: 'Suspicious login, {{ incident.incident_number }}',
        },
        condition: `has(incident.fields.ip) && ${IS_MALICIOUS}`,
        approval_level: 'analyst',
        on_error: 'continue',
      },
    ],
  },
};
