import {
  PLAYBOOK_ID,
  SHIPPED_NAME,
  STEPS_EXAMPLE,
  VARIABLES_EXAMPLE,
} from '../../dto/playbook-examples.js';

/* One run of the playbook of the other examples, at four moments; and what a dry run told before it. */

export const RUN_ID = '0193f2b7-11aa-7f00-8d3c-5b6a7c8d9e0f';
const INCIDENT_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
const variables = VARIABLES_EXAMPLE;

const ABOUT = {
  playbook_id: PLAYBOOK_ID,
  playbook_version: 2,
  playbook: SHIPPED_NAME,
  incident_id: INCIDENT_ID,
} as const;

const RUN = {
  run_id: RUN_ID,
  ...ABOUT,
  requested_by: 'alice',
  automatic: false,
  steps_completed: 1,
  steps_failed: 0,
  steps_total: 3,
  started_at: '2026-01-31T09:30:00.000Z',
} as const;

const [QUARANTINE, DELETE, TELL] = STEPS_EXAMPLE.map(({ name, action }) => ({ name, action }));

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
    steps_failed: 0,
    steps_total: 3,
    variables,
    steps: [
      { ...QUARANTINE, status: 'pending', decision: 'run', available: true },
      { ...DELETE, status: 'pending', decision: 'run', available: true },
      { ...TELL, decision: 'undecided', available: false },
    ],
  },
};
