import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';

export const ME_EXAMPLES: OperationExamples = {
  getMe: {
    user: {
      summary: 'A person',
      status: 200,
      answer: { data: { name: 'alice', kind: 'user', role: 'analyst', approval_level: 'analyst' } },
    },
  },
  changeMyPassword: {
    changed: {
      summary: 'A new password',
      session: true,
      body: { current_password: 'orchid-Kayak7-lantern', new_password: 'velvet-Tundra4-cymbal' },
      status: 200,
      answer: { data: { name: 'alice', kind: 'user', role: 'analyst', approval_level: 'analyst' } },
    },
    invalid_credentials: {
      summary: 'The present password is wrong',
      session: true,
      body: { current_password: 'orchid-Kayak7-lantern', new_password: 'velvet-Tundra4-cymbal' },
      status: 401,
      answer: refused('invalid_credentials', 'The current password is wrong.'),
    },
  },
  listMySessions: {
    two: {
      summary: 'Logged in twice',
      session: true,
      query: { per_page: '2' },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.session,
            current: false,
            created_at: '2026-01-30T15:02:30.343Z',
            last_seen_at: '2026-01-30T15:02:30.343Z',
            expires_at: '2026-01-31T15:03:29.991Z',
            address: '192.0.2.17',
            user_agent: 'soc-dashboard/2.1',
          },
          {
            id: '019c0f6c-e2a6-7000-abcb-3a3efcfd2bf6',
            current: true,
            created_at: '2026-01-30T15:02:00.098Z',
            last_seen_at: '2026-01-30T15:02:00.098Z',
            expires_at: '2026-01-31T15:03:29.638Z',
            address: '192.0.2.17',
            user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
          },
        ],
        meta: { page: 1, per_page: 2, total: 2 },
      },
    },
  },
  endMySession: {
    ended: {
      summary: 'The other one',
      session: true,
      path: { id: STORY.session },
      status: 200,
      answer: { data: { id: STORY.session, deleted: true } },
    },
    not_found: {
      summary: 'It has ended before',
      session: true,
      path: { id: STORY.session },
      status: 404,
      answer: refused('not_found', 'Session not found.'),
    },
  },
};
