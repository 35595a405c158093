import type { PlaybookStep } from '../playbook.js';

/* What the fields of playbooks show. The steps are those of the playbook that all examples of the contract tell of. */

/** A name that is always there, since the first start makes the shipped playbooks. */
export const SHIPPED_NAME = 'phishing-response';
export const PLAYBOOK_ID = '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c';

export const VARIABLES_EXAMPLE = { channel: '#soc' };

export const STEPS_EXAMPLE = [
  {
    name: 'quarantine',
    action: 'quarantine_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(incident.raw_data.message_id)',
    on_error: 'stop',
  },
  {
    name: 'delete',
    action: 'delete_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(steps.quarantine.result)',
    approval_level: 'senior',
    on_error: 'continue',
  },
  {
    name: 'tell_team',
    action: 'notify_channel',
    parameters: {
      channel: '{{ variables.channel }}',
      message: 'The mail of {{ incident.incident_number }} is dealt with.',
    },
    on_error: 'continue',
  },
] as const satisfies PlaybookStep[];

export const CREATED = { created_by: 'system', created_at: '2026-01-29T08:00:00.000Z' };
export const CHANGED = { updated_by: 'alice', updated_at: '2026-01-30T16:00:00.000Z' };
