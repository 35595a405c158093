import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';
import { STEPS_EXAMPLE } from './dto/playbook-examples.js';

const UNREADABLE = [
  {
    name: 'quarantine',
    action: 'quarantine_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(incident.raw_data.message_id',
    on_error: 'stop',
  },
];

const CONTENT = {
  name: 'reported-mail',
  description: 'Takes a mail that somebody reported out of the mailbox.',
  enabled: true,
  triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
  auto_run: false,
  trust_verdict: false,
  variables: { channel: '#soc' },
  steps: STEPS_EXAMPLE,
};

const PLAYBOOK = {
  id: STORY.playbook,
  name: 'reported-mail',
  description: 'Takes a mail that somebody reported out of the mailbox.',
  version: 1,
  enabled: true,
  triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
  auto_run: false,
  trust_verdict: false,
  variables: { channel: '#soc' },
  steps: STEPS_EXAMPLE,
  created_by: 'bob',
  created_at: '2026-01-31T10:10:40.020Z',
  updated_by: 'bob',
  updated_at: '2026-01-31T10:10:40.020Z',
};

const CREATED = { data: PLAYBOOK };

export const PLAYBOOK_EXAMPLES: OperationExamples = {
  createPlaybook: {
    reported_mail: {
      summary: 'What to do about a reported mail',
      body: CONTENT,
      status: 201,
      answer: CREATED,
    },
    conflict: {
      summary: 'The name is taken',
      body: CONTENT,
      status: 409,
      answer: refused('conflict', 'There is a playbook named reported-mail already.'),
    },
    validation_error: {
      summary: 'A condition cannot be read',
      body: {
        name: 'other',
        description: 'Takes a mail that somebody reported out of the mailbox.',
        enabled: true,
        triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
        auto_run: false,
        trust_verdict: false,
        variables: { channel: '#soc' },
        steps: UNREADABLE,
      },
      status: 422,
      answer: refused('validation_error', 'steps.0.condition at character 33: Here has to be ).', {
        details: {
          errors: [
            {
              field: 'steps.0.condition',
              code: 'expression',
              message: 'steps.0.condition at character 33: Here has to be ).',
            },
          ],
        },
      }),
    },
  },
  validatePlaybook: {
    valid: {
      summary: 'It can be saved',
      body: CONTENT,
      status: 200,
      answer: { data: { valid: true } },
    },
    validation_error: {
      summary: 'A condition cannot be read',
      body: {
        name: 'reported-mail',
        description: 'Takes a mail that somebody reported out of the mailbox.',
        enabled: true,
        triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
        auto_run: false,
        trust_verdict: false,
        variables: { channel: '#soc' },
        steps: UNREADABLE,
      },
      status: 422,
      answer: refused('validation_error', 'steps.0.condition at character 33: Here has to be ).', {
        details: {
          errors: [
            {
              field: 'steps.0.condition',
              code: 'expression',
              message: 'steps.0.condition at character 33: Here has to be ).',
            },
          ],
        },
      }),
    },
  },
  listPlaybooks: {
    newest: {
      summary: 'The newest',
      query: { per_page: '1' },
      status: 200,
      answer: { data: [PLAYBOOK], meta: { page: 1, per_page: 1, total: 4 } },
    },
  },
  getPlaybook: {
    by_name: {
      summary: 'By its name',
      path: { id: 'reported-mail' },
      status: 200,
      answer: CREATED,
    },
    not_found: {
      summary: 'There is no such playbook',
      path: { id: 'reported-mail' },
      status: 404,
      answer: refused('not_found', 'Playbook not found.'),
    },
  },
  listPlaybookVersions: {
    two: {
      summary: 'Two versions',
      path: { id: 'reported-mail' },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.playbook,
            name: 'reported-mail',
            description: 'For what people report.',
            version: 2,
            enabled: false,
            triggers: {
              incident_types: ['phishing'],
              severities: ['high', 'critical'],
              sources: [],
            },
            auto_run: false,
            trust_verdict: false,
            variables: { channel: '#soc' },
            steps: STEPS_EXAMPLE,
            changed_by: 'bob',
            changed_at: '2026-01-31T10:24:00.012Z',
          },
          {
            id: STORY.playbook,
            name: 'reported-mail',
            description: 'Takes a mail that somebody reported out of the mailbox.',
            version: 1,
            enabled: true,
            triggers: {
              incident_types: ['phishing'],
              severities: ['high', 'critical'],
              sources: [],
            },
            auto_run: false,
            trust_verdict: false,
            variables: { channel: '#soc' },
            steps: STEPS_EXAMPLE,
            changed_by: 'bob',
            changed_at: '2026-01-31T10:10:40.020Z',
          },
        ],
        meta: { page: 1, per_page: 20, total: 2 },
      },
    },
  },
  updatePlaybook: {
    disable: {
      summary: 'Stop it, if nobody changed it meanwhile',
      path: { id: 'reported-mail' },
      headers: { 'If-Match': `"${STORY.playbook}-1"` },
      body: { description: 'For what people report.', enabled: false },
      status: 200,
      answer: {
        data: {
          id: STORY.playbook,
          name: 'reported-mail',
          description: 'For what people report.',
          version: 2,
          enabled: false,
          triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
          auto_run: false,
          trust_verdict: false,
          variables: { channel: '#soc' },
          steps: STEPS_EXAMPLE,
          created_by: 'bob',
          created_at: '2026-01-31T10:10:40.020Z',
          updated_by: 'bob',
          updated_at: '2026-01-31T10:24:00.012Z',
        },
      },
    },
    precondition_failed: {
      summary: 'Somebody changed it meanwhile',
      path: { id: 'reported-mail' },
      headers: { 'If-Match': `"${STORY.playbook}-1"` },
      body: { enabled: true },
      status: 412,
      answer: refused(
        'precondition_failed',
        'The resource has changed: its ETag is now "019c1388-8515-7000-ba4a-da75bde8a512-2".',
      ),
    },
    conflict: {
      summary: 'The name is taken',
      path: { id: 'reported-mail' },
      body: { name: 'phishing-response' },
      status: 409,
      answer: refused('conflict', 'There is a playbook named phishing-response already.'),
    },
  },
  deletePlaybook: {
    deleted: {
      summary: 'It is deleted',
      path: { id: 'reported-mail' },
      status: 200,
      answer: { data: { id: STORY.playbook, deleted: true } },
    },
  },
};
