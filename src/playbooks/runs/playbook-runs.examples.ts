import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';

const QUARANTINED = {
  name: 'quarantine',
  action: 'quarantine_email',
  status: 'completed',
  action_id: 'act-019c138d-670b-7000-98e8-cf73819f472f',
  parameters: { message_id: '<4f2a1c@mail.example.net>' },
  result: {
    success: true,
    message: '[sandbox] quarantine_email was not really done.',
    simulated: true,
  },
  started_at: '2026-01-31T10:16:00.012Z',
  completed_at: '2026-01-31T10:16:00.022Z',
};

const LISTED = {
  data: [
    {
      run_id: STORY.run,
      playbook_id: STORY.playbook,
      playbook_version: 1,
      playbook: 'reported-mail',
      incident_id: STORY.mail,
      status: 'waiting_approval',
      requested_by: 'alice',
      automatic: false,
      steps_completed: 1,
      steps_failed: 0,
      steps_total: 3,
      started_at: '2026-01-31T10:16:00.004Z',
    },
  ],
  meta: { page: 1, per_page: 20, total: 1 },
};

const STEPS = [
  QUARANTINED,
  {
    name: 'delete',
    action: 'delete_email',
    status: 'waiting_approval',
    action_id: STORY.stepAction,
    approval_level: 'senior',
    parameters: { message_id: '<4f2a1c@mail.example.net>' },
    started_at: '2026-01-31T10:16:00.022Z',
  },
  { name: 'tell_team', action: 'notify_channel', status: 'pending' },
];

const WAITING = {
  data: {
    run_id: STORY.run,
    playbook_id: STORY.playbook,
    playbook_version: 1,
    playbook: 'reported-mail',
    incident_id: STORY.mail,
    status: 'waiting_approval',
    requested_by: 'alice',
    automatic: false,
    steps_completed: 1,
    steps_failed: 0,
    steps_total: 3,
    started_at: '2026-01-31T10:16:00.004Z',
    variables: { channel: '#soc-night' },
    steps: STEPS,
  },
};

export const PLAYBOOK_RUN_EXAMPLES: OperationExamples = {
  runPlaybook: {
    dry_run: {
      summary: 'What would happen',
      path: { id: 'reported-mail' },
      body: { incident_id: STORY.mail, dry_run: true },
      status: 200,
      answer: {
        data: {
          kind: 'dry_run',
          dry_run: true,
          playbook_id: STORY.playbook,
          playbook_version: 1,
          playbook: 'reported-mail',
          incident_id: STORY.mail,
          steps_completed: 0,
          steps_total: 3,
          variables: { channel: '#soc' },
          steps: [
            {
              name: 'quarantine',
              action: 'quarantine_email',
              decision: 'run',
              available: true,
              parameters: { message_id: '<4f2a1c@mail.example.net>' },
            },
            {
              name: 'delete',
              action: 'delete_email',
              decision: 'undecided',
              available: true,
              approval_level: 'senior',
            },
            {
              name: 'tell_team',
              action: 'notify_channel',
              decision: 'run',
              available: true,
              parameters: { channel: '#soc', message: 'The mail of INC-2026-0042 is dealt with.' },
            },
          ],
        },
      },
    },
    waiting_approval: {
      summary: 'It waits for an approval',
      path: { id: 'reported-mail' },
      body: { incident_id: STORY.mail, variables: { channel: '#soc-night' } },
      status: 202,
      answer: {
        data: {
          kind: 'run',
          dry_run: false,
          run_id: STORY.run,
          playbook_id: STORY.playbook,
          playbook_version: 1,
          playbook: 'reported-mail',
          incident_id: STORY.mail,
          status: 'waiting_approval',
          requested_by: 'alice',
          automatic: false,
          steps_completed: 1,
          steps_failed: 0,
          steps_total: 3,
          started_at: '2026-01-31T10:16:00.004Z',
          variables: { channel: '#soc-night' },
          steps: STEPS,
        },
      },
    },
    invalid_state: {
      summary: 'It is disabled',
      path: { id: 'reported-mail' },
      body: { incident_id: STORY.mail },
      status: 409,
      answer: refused(
        'invalid_state',
        'The playbook reported-mail is disabled: it starts no run.',
        { details: { reason: 'playbook_disabled' } },
      ),
    },
  },
  listPlaybookRuns: {
    waiting_approval: {
      summary: 'Those that wait for approval',
      path: { id: 'reported-mail' },
      query: { status: 'waiting_approval' },
      status: 200,
      answer: LISTED,
    },
  },
  getPlaybookRun: {
    waiting_approval: {
      summary: 'A step waits for approval',
      path: { id: 'reported-mail', run_id: STORY.run },
      status: 200,
      answer: WAITING,
    },
    completed: {
      summary: 'It has ended',
      path: { id: 'reported-mail', run_id: STORY.secondRun },
      status: 200,
      answer: {
        data: {
          run_id: STORY.secondRun,
          playbook_id: STORY.playbook,
          playbook_version: 1,
          playbook: 'reported-mail',
          incident_id: STORY.mail,
          status: 'completed',
          outcome: 'succeeded',
          requested_by: 'alice',
          automatic: false,
          steps_completed: 3,
          steps_failed: 0,
          steps_total: 3,
          started_at: '2026-01-31T10:21:20.020Z',
          completed_at: '2026-01-31T10:22:40.058Z',
          variables: { channel: '#soc' },
          steps: [
            {
              name: 'quarantine',
              action: 'quarantine_email',
              status: 'completed',
              action_id: 'act-019c1392-4950-7000-b4bc-b9f1eb3cd374',
              parameters: { message_id: '<4f2a1c@mail.example.net>' },
              result: {
                success: true,
                message: '[sandbox] quarantine_email was not really done.',
                simulated: true,
              },
              started_at: '2026-01-31T10:21:20.082Z',
              completed_at: '2026-01-31T10:21:20.101Z',
            },
            {
              name: 'delete',
              action: 'delete_email',
              status: 'completed',
              action_id: STORY.secondStepAction,
              approval_level: 'senior',
              parameters: { message_id: '<4f2a1c@mail.example.net>' },
              result: {
                success: true,
                message: '[sandbox] delete_email was not really done.',
                simulated: true,
              },
              started_at: '2026-01-31T10:21:20.101Z',
              completed_at: '2026-01-31T10:22:40.053Z',
            },
            {
              name: 'tell_team',
              action: 'notify_channel',
              status: 'completed',
              action_id: 'act-019c1393-81b4-7000-a00a-f719e460e523',
              parameters: { channel: '#soc', message: 'The mail of INC-2026-0042 is dealt with.' },
              result: {
                success: true,
                message: '[sandbox] notify_channel was not really done.',
                simulated: true,
              },
              started_at: '2026-01-31T10:22:40.053Z',
              completed_at: '2026-01-31T10:22:40.058Z',
            },
          ],
        },
      },
    },
  },
  cancelPlaybookRun: {
    cancelled: {
      summary: 'It is cancelled',
      path: { id: 'reported-mail', run_id: STORY.run },
      status: 200,
      answer: {
        data: {
          run_id: STORY.run,
          playbook_id: STORY.playbook,
          playbook_version: 1,
          playbook: 'reported-mail',
          incident_id: STORY.mail,
          status: 'cancelled',
          outcome: 'cancelled',
          requested_by: 'alice',
          automatic: false,
          steps_completed: 1,
          steps_failed: 0,
          steps_total: 3,
          error: 'Cancelled by bob.',
          started_at: '2026-01-31T10:16:00.004Z',
          completed_at: '2026-01-31T10:20:00.023Z',
          variables: { channel: '#soc-night' },
          steps: [
            QUARANTINED,
            {
              name: 'delete',
              action: 'delete_email',
              status: 'cancelled',
              action_id: STORY.stepAction,
              approval_level: 'senior',
              parameters: { message_id: '<4f2a1c@mail.example.net>' },
              started_at: '2026-01-31T10:16:00.022Z',
              completed_at: '2026-01-31T10:20:00.023Z',
            },
            { name: 'tell_team', action: 'notify_channel', status: 'pending' },
          ],
        },
      },
    },
    invalid_state: {
      summary: 'It has ended',
      path: { id: 'reported-mail', run_id: STORY.run },
      status: 409,
      answer: refused('invalid_state', 'The playbook run has ended.'),
    },
  },
  listAllPlaybookRuns: {
    of_incident: {
      summary: 'Those about an incident',
      query: { incident_id: STORY.mail },
      status: 200,
      answer: LISTED,
    },
  },
  findPlaybookRun: {
    waiting_approval: {
      summary: 'A step waits for approval',
      path: { run_id: STORY.run },
      status: 200,
      answer: WAITING,
    },
  },
};
