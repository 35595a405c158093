import type { PlaybookStep } from '../playbook.js';

/** What people copy: it can be created as it is. */
export const STEPS_EXAMPLE = [
  {
    name: 'quarantine',
    action: 'quarantine_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(incident.raw_data.message_id)',
    on_error: 'stop',
  },
  {
    name: 'tell_team',
    action: 'notify_channel',
    parameters: {
      channel: '{{ variables.channel }}',
      message: 'The mail of {{ incident.incident_number }} is in quarantine.',
    },
    on_error: 'continue',
  },
] as const satisfies PlaybookStep[];
