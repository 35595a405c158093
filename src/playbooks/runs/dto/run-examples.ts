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
  steps_failed: 0,
  steps_total: STEPS_EXAMPLE.length,
  started_at: '2026-01-31T09:30:00.000Z',
} as const;

const [QUARANTINE, DELETE, TELL] = STEPS_EXAMPLE.map(({ name, action }) => ({ name, action }));

const MAIL = { parameters: { message_id: '<1@mail.example.net>' } };
const MESSAGE = {
  parameters: { channel: '#soc', message: 'The mail of INC-2026-0042 is dealt with.' },
};

const QUARANTINED = {
  ...QUARANTINE,
  status: 'completed',
  action_id: 'act-0193f2b7-2222-7f00-8d3c-5b6a7c8d9e0f',
  ...MAIL,
  result: { success: true, message: 'The email was moved.' },
  started_at: '2026-01-31T09:30:00.000Z',
  completed_at: '2026-01-31T09:30:01.000Z',
};

const DELETE_WAITS = {
  ...DELETE,
  status: 'waiting_approval',
  action_id: 'act-0193f2b7-3333-7f00-8d3c-5b6a7c8d9e0f',
  approval_level: 'senior',
  ...MAIL,
  started_at: '2026-01-31T09:30:01.000Z',
};

const LISTED = { ...RUN, status: 'waiting_approval', steps_completed: 1 };

const WAITS = {
  ...LISTED,
  variables,
  steps: [QUARANTINED, DELETE_WAITS, { ...TELL, status: 'pending' }],
};

const CANCELLED_AT = { completed_at: '2026-01-31T10:15:00.000Z' };

const CANCELLED = {
  ...WAITS,
  status: 'cancelled',
  error: 'Cancelled by bob.',
  ...CANCELLED_AT,
  steps: [
    QUARANTINED,
    { ...DELETE_WAITS, status: 'cancelled', ...CANCELLED_AT },
    { ...TELL, status: 'pending' },
  ],
};

const ENDED = {
  ...RUN,
  status: 'completed',
  steps_completed: 3,
  completed_at: '2026-01-31T10:40:03.000Z',
  variables,
  steps: [
    QUARANTINED,
    {
      ...DELETE_WAITS,
      status: 'completed',
      result: { success: true, message: 'The email was deleted.' },
      completed_at: '2026-01-31T10:40:02.000Z',
    },
    {
      ...TELL,
      status: 'completed',
      action_id: 'act-0193f2b7-4444-7f00-8d3c-5b6a7c8d9e0f',
      ...MESSAGE,
      result: { success: true, message: 'The message was posted.' },
      started_at: '2026-01-31T10:40:02.000Z',
      completed_at: '2026-01-31T10:40:03.000Z',
    },
  ],
};

export const RUN_EXAMPLE = { data: ENDED };
export const CANCELLED_EXAMPLE = { data: CANCELLED };
export const RUN_WAITS_EXAMPLE = { data: { dry_run: false, ...WAITS } };

export const RUN_LIST_EXAMPLE = { data: [LISTED], meta: { page: 1, per_page: 20, total: 1 } };

const DRY_RUN = {
  dry_run: true,
  ...ABOUT,
  steps_completed: 0,
  steps_total: STEPS_EXAMPLE.length,
  variables,
  steps: [
    { ...QUARANTINE, decision: 'run', available: true, ...MAIL },
    { ...DELETE, decision: 'undecided', available: true, approval_level: 'senior' },
    { ...TELL, decision: 'run', available: false, ...MESSAGE },
  ],
};

export const RUN_ANSWERS = {
  'A dry run': { data: DRY_RUN },
  'The run has ended': { data: { dry_run: false, ...ENDED } },
};

/** Swagger UI sends the first one in the order of the alphabet: it does nothing, and names nothing that may not be there. */
export const RUN_REQUESTS = {
  'A dry run': { dry_run: true },
  'For an incident': { incident_id: INCIDENT_ID, variables: { channel: '#soc-night' } },
};
