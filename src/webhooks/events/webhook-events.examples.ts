import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';

const PROCESSED = {
  data: {
    id: STORY.failedEvent,
    source: 'siem',
    status: 'processed',
    incident_id: '019c136b-3904-7000-93fd-0d813bc102f4',
    attempts: 2,
    received_at: '2026-01-31T09:34:40.001Z',
    processed_at: '2026-01-31T09:38:40.001Z',
    body: '{"alarm":{"rule":"Impossible travel","level":"warn","key":"a-17"}}',
    body_encoding: 'utf8',
  },
};

export const WEBHOOK_EVENT_EXAMPLES: OperationExamples = {
  listWebhookEvents: {
    failed: {
      summary: 'Those that failed',
      query: { status: 'failed' },
      status: 200,
      answer: {
        data: [
          {
            id: STORY.failedEvent,
            source: 'siem',
            status: 'failed',
            error: 'The body fits no known format.',
            attempts: 1,
            received_at: '2026-01-31T09:34:40.001Z',
            processed_at: '2026-01-31T09:34:40.002Z',
          },
        ],
        meta: { page: 1, per_page: 20, total: 1 },
      },
    },
  },
  getWebhookEvent: {
    failed: {
      summary: 'It fits no format',
      path: { id: STORY.failedEvent },
      status: 200,
      answer: {
        data: {
          id: STORY.failedEvent,
          source: 'siem',
          status: 'failed',
          error: 'The body fits no known format.',
          attempts: 1,
          received_at: '2026-01-31T09:34:40.001Z',
          processed_at: '2026-01-31T09:34:40.002Z',
          body: '{"alarm":{"rule":"Impossible travel","level":"warn","key":"a-17"}}',
          body_encoding: 'utf8',
        },
      },
    },
    processed: {
      summary: 'It made an incident',
      path: { id: STORY.failedEvent },
      status: 200,
      answer: PROCESSED,
    },
  },
  replayWebhookEvent: {
    processed: {
      summary: 'It makes an incident now',
      path: { id: STORY.failedEvent },
      status: 200,
      answer: PROCESSED,
    },
    invalid_state: {
      summary: 'It did not fail',
      path: { id: STORY.failedEvent },
      status: 409,
      answer: refused(
        'invalid_state',
        'The event is processed: only a failed one is tried again.',
        { details: { status: 'processed' } },
      ),
    },
  },
};
