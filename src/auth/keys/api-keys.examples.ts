import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';

export const API_KEY_EXAMPLES: OperationExamples = {
  createApiKey: {
    with_limits: {
      summary: 'For a program, with limits of its own',
      body: {
        name: 'siem-forwarder',
        role: 'analyst',
        expires_in_days: 365,
        limits: { read: 600, write: 600 },
      },
      status: 201,
      answer: {
        data: {
          id: STORY.apiKey,
          name: 'siem-forwarder',
          role: 'analyst',
          prefix: 'a1B2c3D4',
          limits: { read: 600, write: 600 },
          created_by: 'admin',
          owner: 'admin',
          created_at: '2026-01-30T15:06:00.003Z',
          expires_at: '2027-01-30T15:06:00.003Z',
          key: 'its_a1B2c3D4_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
        },
      },
    },
    conflict: {
      summary: 'The name is taken',
      body: { name: 'siem-forwarder', role: 'analyst' },
      status: 409,
      answer: refused('conflict', 'The name siem-forwarder is or was in use.'),
    },
  },
  listApiKeys: {
    made_by_admin: {
      summary: 'Those that one principal made',
      query: { created_by: 'admin', sort: 'name' },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.apiKey,
            name: 'siem-forwarder',
            role: 'analyst',
            prefix: 'a1B2c3D4',
            limits: { read: 600, write: 600 },
            created_by: 'admin',
            owner: 'admin',
            created_at: '2026-01-30T15:06:00.003Z',
            expires_at: '2027-01-30T15:06:59.963Z',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
  },
  deleteApiKey: {
    revoked: {
      summary: 'It is revoked',
      path: { id: STORY.apiKey },
      status: 200,
      answer: { data: { id: STORY.apiKey, deleted: true } },
    },
    not_found: {
      summary: 'It was revoked before',
      path: { id: STORY.apiKey },
      status: 404,
      answer: refused('not_found', 'API key not found.'),
    },
  },
};
