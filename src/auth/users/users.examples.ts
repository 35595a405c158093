import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';

export const USER_EXAMPLES: OperationExamples = {
  createUser: {
    analyst: {
      summary: 'An analyst',
      body: { username: 'alice', password: 'orchid-Kayak7-lantern', role: 'analyst' },
      status: 201,
      answer: {
        data: {
          id: STORY.alice,
          username: 'alice',
          role: 'analyst',
          enabled: true,
          created_at: '2026-01-30T15:00:00.138Z',
          updated_at: '2026-01-30T15:00:00.138Z',
        },
      },
    },
    conflict: {
      summary: 'The name is taken',
      body: { username: 'alice', password: 'orchid-Kayak7-lantern', role: 'analyst' },
      status: 409,
      answer: refused('conflict', 'The name alice is or was in use.'),
    },
    weak_password: {
      summary: 'A password that is easy to guess',
      body: { username: 'erin', password: 'password1234', role: 'analyst' },
      status: 422,
      answer: refused(
        'weak_password',
        'password is too easy to guess: it is a common password, or made of common words and patterns.',
        {
          details: {
            errors: [
              {
                field: 'password',
                code: 'weak_password',
                message:
                  'password is too easy to guess: it is a common password, or made of common words and patterns.',
              },
            ],
          },
        },
      ),
    },
  },
  listUsers: {
    newest: {
      summary: 'The newest two',
      query: { per_page: '2' },
      status: 200,
      answer: {
        data: [
          {
            id: '019c0f6d-5841-7000-b577-bf8573307443',
            username: 'carol',
            role: 'manager',
            enabled: true,
            created_at: '2026-01-30T15:02:30.210Z',
            updated_at: '2026-01-30T15:02:30.210Z',
            last_login_at: '2026-01-30T15:02:30.264Z',
          },
          {
            id: '019c0f6d-57b5-7000-a7f8-8417272036a2',
            username: 'bob',
            role: 'senior',
            enabled: true,
            created_at: '2026-01-30T15:02:30.140Z',
            updated_at: '2026-01-30T15:02:30.140Z',
            last_login_at: '2026-01-30T15:02:30.204Z',
          },
        ],
        meta: { page: 1, per_page: 2, total: 5 },
      },
    },
    forbidden: {
      summary: 'The role is too low',
      status: 403,
      answer: refused('forbidden', 'Only an admin may do this.', {
        details: { required_role: 'admin' },
      }),
    },
  },
  getUser: {
    analyst: {
      summary: 'An analyst',
      path: { id: STORY.alice },
      status: 200,
      answer: {
        data: {
          id: STORY.alice,
          username: 'alice',
          role: 'analyst',
          enabled: true,
          created_at: '2026-01-30T15:00:00.138Z',
          updated_at: '2026-01-30T15:05:00.167Z',
          last_login_at: '2026-01-30T15:02:30.343Z',
        },
      },
    },
  },
  updateUser: {
    promoted: {
      summary: 'Another role',
      path: { id: STORY.dave },
      body: { role: 'analyst' },
      status: 200,
      answer: {
        data: {
          id: STORY.dave,
          username: 'dave',
          role: 'analyst',
          enabled: true,
          created_at: '2026-01-30T15:01:30.111Z',
          updated_at: '2026-01-30T15:09:30.006Z',
        },
      },
    },
    disabled: {
      summary: 'Disable it',
      path: { id: STORY.dave },
      body: { enabled: false },
      status: 200,
      answer: {
        data: {
          id: STORY.dave,
          username: 'dave',
          role: 'analyst',
          enabled: false,
          created_at: '2026-01-30T15:01:30.111Z',
          updated_at: '2026-01-30T15:10:00.001Z',
        },
      },
    },
    invalid_state: {
      summary: 'The last admin',
      path: { id: STORY.admin },
      body: { role: 'viewer' },
      status: 409,
      answer: refused(
        'invalid_state',
        'This is the last enabled admin: it cannot be deleted, disabled or given another role.',
      ),
    },
  },
  deleteUser: {
    deleted: {
      summary: 'It is deleted',
      path: { id: STORY.dave },
      status: 200,
      answer: { data: { id: STORY.dave, deleted: true } },
    },
    invalid_state: {
      summary: 'The last admin',
      path: { id: STORY.admin },
      status: 409,
      answer: refused(
        'invalid_state',
        'This is the last enabled admin: it cannot be deleted, disabled or given another role.',
      ),
    },
  },
};
