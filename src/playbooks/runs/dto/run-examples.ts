const ABOUT = {
  playbook_id: '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c',
  playbook_version: 3,
  playbook: 'phishing-response',
  incident_id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
} as const;

const RUN = {
  run_id: '0193f2b7-11aa-7f00-8d3c-5b6a7c8d9e0f',
  ...ABOUT,
  status: 'waiting_approval',
  requested_by: 'alice',
  automatic: false,
  steps_completed: 1,
  steps_total: 3,
  started_at: '2026-01-31T09:30:00.000Z',
} as const;

const QUARANTINE = {
  name: 'quarantine',
  action: 'quarantine_email',
  parameters: { message_id: '<1@mail.example.net>' },
} as const;

const DELETE = {
  name: 'delete',
  action: 'delete_email',
  parameters: { message_id: '<1@mail.example.net>' },
  approval_level: 'senior',
} as const;

const TELL = { name: 'tell_team', action: 'notify_channel', status: 'pending' } as const;

const STEPS = [
  {
    ...QUARANTINE,
    status: 'completed',
    action_id: 'act-0193f2b7-2222-7f00-8d3c-5b6a7c8d9e0f',
    result: { success: true, message: 'The email was moved.' },
    started_at: '2026-01-31T09:30:00.000Z',
    completed_at: '2026-01-31T09:30:01.000Z',
  },
  {
    ...DELETE,
    status: 'waiting_approval',
    action_id: 'act-0193f2b7-3333-7f00-8d3c-5b6a7c8d9e0f',
    started_at: '2026-01-31T09:30:01.000Z',
  },
  TELL,
] as const;

const variables = { channel: '#soc' };

export const RUN_EXAMPLE = { data: { ...RUN, variables, steps: STEPS } };

export const RUN_WAITS_EXAMPLE = { data: { dry_run: false, ...RUN, variables, steps: STEPS } };

export const RUN_LIST_EXAMPLE = { data: [RUN], meta: { page: 1, per_page: 20, total: 1 } };

export const DRY_RUN_EXAMPLE = {
  data: {
    dry_run: true,
    ...ABOUT,
    steps_completed: 0,
    steps_total: 3,
    variables,
    steps: [
      { ...QUARANTINE, status: 'pending', decision: 'run', available: true },
      { ...DELETE, status: 'pending', decision: 'run', available: true },
      { ...TELL, decision: 'undecided', available: false },
    ],
  },
};
