import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';

const JOB = '019c1395-2aa0-7000-9c3b-1a2b3c4d5e6f';

export const DEAD_JOB_EXAMPLES: OperationExamples = {
  listDeadJobs: {
    of_a_queue: {
      summary: 'Those of one queue',
      query: { queue: 'triage' },
      status: 200,
      answer: {
        data: [
          {
            id: JOB,
            queue: 'triage',
            attempts: 9,
            error: 'The model did not answer.',
            enqueued_at: '2026-01-31T10:02:11.480Z',
            created_at: '2026-01-31T10:24:31.200Z',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
  },
  requeueDeadJob: {
    requeued: {
      summary: 'It is tried again',
      path: { id: JOB },
      status: 200,
      answer: { data: { id: JOB, requeued: true } },
    },
    not_found: {
      summary: 'It was put back before',
      path: { id: JOB },
      status: 404,
      answer: refused('not_found', 'Dead job not found.'),
    },
  },
};
