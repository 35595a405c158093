import type { PlaybookStep } from '../playbook.js';

/*
 * The examples of the contract tell one story: system shipped a playbook, alice made its second version, and the runs of the
 * next day went by that one. What is to be sent succeeds as it is on a service that was just started.
 */

/** A name that is always there, since the first start makes the shipped playbooks. */
export const SHIPPED_NAME = 'phishing-response';
export const NEW_NAME = 'reported-mail';
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

const CONTENT = {
  description: 'Takes a mail that somebody reported out of the mailbox.',
  enabled: true,
  triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
  auto_run: false,
  trust_verdict: false,
  variables: VARIABLES_EXAMPLE,
  steps: STEPS_EXAMPLE,
};

/** At the version that the runs of the other examples go by. */
const PLAYBOOK = { id: PLAYBOOK_ID, name: SHIPPED_NAME, version: 2, ...CONTENT };

export const PLAYBOOK_EXAMPLE = { data: { ...PLAYBOOK, ...CREATED, ...CHANGED } };

export const PLAYBOOKS_EXAMPLE = {
  data: [PLAYBOOK_EXAMPLE.data],
  meta: { page: 1, per_page: 20, total: 1 },
};

export const VERSIONS_EXAMPLE = {
  data: [
    { ...PLAYBOOK, changed_by: CHANGED.updated_by, changed_at: CHANGED.updated_at },
    {
      ...PLAYBOOK,
      version: 1,
      auto_run: true,
      changed_by: CREATED.created_by,
      changed_at: CREATED.created_at,
    },
  ],
  meta: { page: 1, per_page: 20, total: 2 },
};

export const NEW_PLAYBOOK_EXAMPLE = { name: NEW_NAME, ...CONTENT };

export const CREATED_EXAMPLE = {
  data: {
    id: '0193f2b6-aa10-7d00-9c3b-1a2b3c4d5e6f',
    ...NEW_PLAYBOOK_EXAMPLE,
    version: 1,
    created_by: 'alice',
    created_at: '2026-01-30T16:00:00.000Z',
    updated_by: 'alice',
    updated_at: '2026-01-30T16:00:00.000Z',
  },
};

/** Changes no step, so that whoever tries it out on a shipped playbook does not lose one. */
export const CHANGE_EXAMPLE = { description: 'For what people report.', enabled: true };

export const CHANGED_EXAMPLE = {
  data: {
    ...PLAYBOOK,
    ...CHANGE_EXAMPLE,
    version: 3,
    ...CREATED,
    updated_by: 'alice',
    updated_at: '2026-02-01T10:00:00.000Z',
  },
};
