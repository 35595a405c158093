import { type OperationExamples, refused } from '../platform/openapi/operation-examples.js';
import { STORY } from '../platform/openapi/story.js';

const ITEM = `webhook_event_failed.${STORY.failedEvent}`;
const REASON = 'The mapping of the source is being mended.';

export const ATTENTION_EXAMPLES: OperationExamples = {
  getAttention: {
    failed_event: {
      summary: 'An event that nobody could read',
      status: 200,
      answer: {
        data: {
          total: 1,
          counts: [
            { kind: 'playbook_step_failed', count: 0 },
            { kind: 'playbook_runs_rate_limited', count: 0 },
            { kind: 'action_failed', count: 0 },
            { kind: 'action_outcome_unknown', count: 0 },
            { kind: 'approval_expired', count: 0 },
            { kind: 'triage_failed', count: 0 },
            { kind: 'webhook_event_failed', count: 1 },
            { kind: 'resolved_incident_reported', count: 0 },
            { kind: 'webhook_source_silent', count: 0 },
          ],
          items: [
            {
              id: ITEM,
              kind: 'webhook_event_failed',
              name: 'siem',
              reason: 'The body fits no known format.',
              at: '2026-01-31T09:34:40.002Z',
              role: 'analyst',
              link: `/api/webhook-events/${STORY.failedEvent}`,
            },
          ],
        },
      },
    },
  },
  completeAttentionItem: {
    done: {
      summary: 'Somebody sees to it',
      path: { id: ITEM },
      body: { reason: REASON },
      status: 200,
      answer: {
        data: {
          id: ITEM,
          done_by: 'alice',
          done_at: '2026-01-31T09:36:40.000Z',
          reason: REASON,
        },
      },
    },
    not_found: {
      summary: 'It is done with',
      path: { id: ITEM },
      body: { reason: REASON },
      status: 404,
      answer: refused('not_found', 'Attention item not found.'),
    },
  },
};
