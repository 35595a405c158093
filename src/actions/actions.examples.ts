import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

const REFUSED_BY_VENDOR = {
  success: false,
  message: '[sandbox] create_ticket fails as configured.',
  code: 'refused',
  simulated: true,
};

const ABOUT = {
  incident_number: 'INC-2026-0042',
  incident_type: 'phishing',
  title: 'CEO fraud against finance',
  severity: 'critical',
  status: 'triaged',
};

export const ACTION_EXAMPLES: OperationExamples = {
  listActionTypes: {
    excerpt: {
      summary: 'Two of them',
      status: 200,
      answer: {
        data: [
          {
            name: 'quarantine_email',
            description: 'Moves an email out of its mailbox into quarantine.',
            category: 'email',
            supports_rollback: true,
            rolled_back_by: 'release_email',
            parameters: [
              { name: 'message_id', type: 'string', required: true },
              { name: 'recipient', type: 'string', required: false },
              { name: 'reason', type: 'string', required: false },
            ],
            available: true,
          },
          {
            name: 'isolate_host',
            description: 'Cuts a host off the network.',
            category: 'endpoint',
            supports_rollback: true,
            rolled_back_by: 'unisolate_host',
            default_approval_level: 'senior',
            parameters: [
              { name: 'host_id', type: 'string', required: true },
              { name: 'reason', type: 'string', required: false },
            ],
            available: true,
          },
        ],
      },
    },
  },
  executeIncidentAction: {
    completed: {
      summary: 'It was done at once',
      path: { id: STORY.mail },
      body: {
        action: 'quarantine_email',
        parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
      },
      status: 200,
      answer: {
        data: {
          action_id: STORY.quarantine,
          status: 'completed',
          result: {
            success: true,
            message: '[sandbox] quarantine_email was not really done.',
            simulated: true,
          },
        },
      },
    },
    pending_approval: {
      summary: 'It needs an approval',
      path: { id: STORY.mail },
      body: {
        action: 'delete_email',
        parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
      },
      status: 202,
      answer: {
        data: {
          action_id: STORY.deleteMail,
          status: 'pending_approval',
          approval_level: 'senior',
          expires_at: '2026-02-01T09:52:00.009Z',
          message: 'delete_email needs approval at level senior or higher.',
        },
      },
    },
    failed: {
      summary: 'It failed: that is an outcome',
      path: { id: STORY.mail },
      body: { action: 'create_ticket', parameters: { title: 'Tell finance about the mail.' } },
      status: 200,
      answer: { data: { action_id: STORY.ticket, status: 'failed', result: REFUSED_BY_VENDOR } },
    },
    validation_error: {
      summary: 'A parameter is missing',
      path: { id: STORY.mail },
      body: { action: 'quarantine_email', parameters: { recipient: 'finance@example.com' } },
      status: 422,
      answer: refused('validation_error', 'parameters.message_id is required.', {
        details: {
          errors: [
            {
              field: 'parameters.message_id',
              code: 'required',
              message: 'parameters.message_id is required.',
            },
          ],
        },
      }),
    },
    kill_switch_active: {
      summary: 'The kill switch is on',
      path: { id: STORY.mail },
      body: { action: 'block_sender', parameters: { sender: 'ceo@examp1e.com' } },
      status: 409,
      answer: refused(
        'kill_switch_active',
        'The kill switch is on: automation and actions are stopped.',
        {
          details: {
            reason: 'The isolation playbook takes the wrong hosts.',
            activated_by: 'alice',
            activated_at: '2026-01-31T10:29:20.006Z',
          },
        },
      ),
    },
  },
  listIncidentActions: {
    all: {
      summary: 'All of them',
      path: { id: STORY.mail },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.ticket,
            incident_id: STORY.mail,
            incident: ABOUT,
            action_type: 'create_ticket',
            status: 'failed',
            parameters: { title: 'Tell finance about the mail.' },
            requested_by: 'alice',
            requested_at: '2026-01-31T09:52:40.002Z',
            executed_by: 'alice',
            executed_at: '2026-01-31T09:52:40.008Z',
            result: REFUSED_BY_VENDOR,
          },
          {
            id: STORY.deleteMail,
            incident_id: STORY.mail,
            incident: ABOUT,
            action_type: 'delete_email',
            status: 'pending_approval',
            approval_level: 'senior',
            parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
            requested_by: 'alice',
            requested_at: '2026-01-31T09:52:00.009Z',
            expires_at: '2026-02-01T09:56:39.955Z',
          },
          {
            id: STORY.quarantine,
            incident_id: STORY.mail,
            incident: ABOUT,
            action_type: 'quarantine_email',
            status: 'completed',
            parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
            requested_by: 'alice',
            requested_at: '2026-01-31T09:51:20.004Z',
            executed_by: 'alice',
            executed_at: '2026-01-31T09:51:20.014Z',
            result: {
              success: true,
              message: '[sandbox] quarantine_email was not really done.',
              simulated: true,
            },
          },
        ],
        meta: { page: 1, per_page: 20, total: 3 },
      },
    },
  },
  executeAction: {
    completed: {
      summary: 'A look-up',
      body: { action: 'lookup_domain', parameters: { domain: 'examp1e.com' } },
      status: 200,
      answer: {
        data: {
          action_id: STORY.lookup,
          status: 'completed',
          result: {
            success: true,
            message: '[sandbox] lookup_domain was not really done.',
            simulated: true,
          },
        },
      },
    },
    pending_approval: {
      summary: 'It needs an approval',
      body: {
        action: 'block_domain',
        parameters: { domain: 'examp1e.com', reason: 'Imitates our domain.' },
      },
      status: 202,
      answer: {
        data: {
          action_id: STORY.blockDomain,
          status: 'pending_approval',
          approval_level: 'analyst',
          expires_at: '2026-02-01T09:54:40.003Z',
          message: 'block_domain needs approval at level analyst or higher.',
        },
      },
    },
    pending: {
      summary: 'It takes longer than a request',
      body: {
        action: 'lookup_hash',
        parameters: { hash: '275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f' },
      },
      status: 202,
      answer: {
        data: { action_id: 'act-019c1386-b043-7000-8da6-e905a647d675', status: 'pending' },
      },
    },
  },
  listActions: {
    waiting: {
      summary: 'Those that wait for approval',
      query: { status: 'pending_approval' },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.blockDomain,
            action_type: 'block_domain',
            status: 'pending_approval',
            approval_level: 'analyst',
            parameters: { domain: 'examp1e.com', reason: 'Imitates our domain.' },
            requested_by: 'alice',
            requested_at: '2026-01-31T09:54:40.003Z',
            expires_at: '2026-02-01T09:55:59.995Z',
          },
          {
            id: STORY.deleteMail,
            incident_id: STORY.mail,
            incident: ABOUT,
            action_type: 'delete_email',
            status: 'pending_approval',
            approval_level: 'senior',
            parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
            requested_by: 'alice',
            requested_at: '2026-01-31T09:52:00.009Z',
            expires_at: '2026-02-01T09:55:59.961Z',
          },
        ],
        meta: { page: 1, per_page: 20, total: 2 },
      },
    },
  },
  getAction: {
    pending_approval: {
      summary: 'It waits for approval',
      path: { id: STORY.deleteMail },
      status: 200,
      answer: {
        data: {
          id: STORY.deleteMail,
          incident_id: STORY.mail,
          incident: ABOUT,
          action_type: 'delete_email',
          status: 'pending_approval',
          approval_level: 'senior',
          parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
          requested_by: 'alice',
          requested_at: '2026-01-31T09:52:00.009Z',
          expires_at: '2026-02-01T09:57:19.951Z',
        },
      },
    },
    completed: {
      summary: 'It was approved and done',
      path: { id: STORY.deleteMail },
      status: 200,
      answer: {
        data: {
          id: STORY.deleteMail,
          incident_id: STORY.mail,
          incident: ABOUT,
          action_type: 'delete_email',
          status: 'completed',
          approval_level: 'senior',
          parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
          requested_by: 'alice',
          requested_at: '2026-01-31T09:52:00.009Z',
          executed_by: 'bob',
          executed_at: '2026-01-31T09:59:20.019Z',
          approved_by: 'bob',
          approved_at: '2026-01-31T09:59:20.007Z',
          comment: 'Seen in three mailboxes.',
          result: {
            success: true,
            message: '[sandbox] delete_email was not really done.',
            simulated: true,
          },
        },
      },
    },
    rolled_back: {
      summary: 'It was undone',
      path: { id: STORY.quarantine },
      status: 200,
      answer: {
        data: {
          id: STORY.quarantine,
          incident_id: STORY.mail,
          incident: ABOUT,
          action_type: 'quarantine_email',
          status: 'completed',
          parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
          requested_by: 'alice',
          requested_at: '2026-01-31T09:51:20.004Z',
          executed_by: 'alice',
          executed_at: '2026-01-31T09:51:20.014Z',
          result: {
            success: true,
            message: '[sandbox] quarantine_email was not really done.',
            simulated: true,
          },
          rolled_back_by: STORY.release,
        },
      },
    },
  },
  rollBackAction: {
    completed: {
      summary: 'It is undone at once',
      path: { id: STORY.quarantine },
      body: { reason: 'The mail is genuine after all.' },
      status: 200,
      answer: {
        data: {
          rollback_action_id: STORY.release,
          original_action_id: STORY.quarantine,
          status: 'completed',
          result: {
            success: true,
            message: '[sandbox] release_email was not really done.',
            simulated: true,
          },
        },
      },
    },
    invalid_state: {
      summary: 'It was undone before',
      path: { id: STORY.quarantine },
      body: { reason: 'The mail is genuine after all.' },
      status: 409,
      answer: refused(
        'invalid_state',
        'The action has been rolled back, or its rollback is under way.',
      ),
    },
    rollback_not_supported: {
      summary: 'A look-up has no inverse',
      path: { id: STORY.lookup },
      body: { reason: 'x' },
      status: 400,
      answer: refused('rollback_not_supported', 'lookup_domain cannot be rolled back.'),
    },
    pending_approval: {
      summary: 'Where four eyes are wanted',
      path: { id: STORY.blockSender },
      body: { reason: 'A partner writes from there.' },
      status: 202,
      answer: {
        data: {
          rollback_action_id: STORY.unblockSender,
          original_action_id: STORY.blockSender,
          status: 'pending_approval',
          approval_level: 'analyst',
          expires_at: '2026-02-01T10:06:40.003Z',
        },
      },
    },
  },
};
