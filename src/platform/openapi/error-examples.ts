import type { ErrorCode } from '../errors/error-catalogue.js';
import { refused } from './operation-examples.js';
import { STORY } from './story.js';

/** One answer of each code that any operation may give. What a single operation says goes into the examples of that one. */
const ANSWERS: Readonly<Record<ErrorCode, readonly [message: string, more?: object]>> = {
  bad_request: ['The body is not valid JSON.'],
  rollback_not_supported: ['lookup_domain cannot be rolled back.'],
  unauthorized: ['Authentication is required.'],
  invalid_credentials: ['The user name or the password is wrong.'],
  invalid_signature: ['The webhook signature is missing or does not verify.'],
  timestamp_expired: ['The webhook timestamp is more than 5 minutes off.'],
  forbidden: ['Only an admin may do this.', { details: { required_role: 'admin' } }],
  insufficient_approval_level: [
    'This needs approval level senior; yours is analyst.',
    { required_level: 'senior', your_level: 'analyst' },
  ],
  not_found: ['Incident not found.'],
  unknown_source: ['The webhook source is not registered or disabled.'],
  method_not_allowed: ['This address takes GET and HEAD.'],
  conflict: ['A request with this Idempotency-Key is still under way.'],
  invalid_state: ['The action is completed: it does not wait for approval.'],
  already_resolved: [
    'The incident was resolved by bob at 2026-01-31T10:32:40.005Z. Send reopen: true, or If-Match with its ETag, to open it again.',
    {
      details: {
        resolved_by: 'bob',
        resolved_at: '2026-01-31T10:32:40.005Z',
        resolution: 'The mail was deleted from all mailboxes.',
      },
    },
  ],
  triage_in_progress: [
    'A triage run of the incident is running.',
    { details: { triage_id: STORY.triageRun, status: 'running' } },
  ],
  duplicate_action: [
    'isolate_host on this target was requested by alice and waits for approval. Send repeat: true to request it again.',
    {
      details: {
        action_id: 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
        status: 'pending_approval',
        requested_by: 'alice',
        requested_at: '2026-01-31T09:52:00.009Z',
      },
    },
  ],
  kill_switch_active: [
    'The kill switch is on: automation and actions are stopped.',
    {
      details: {
        reason: 'The isolation playbook takes the wrong hosts.',
        activated_by: 'alice',
        activated_at: '2026-01-31T10:29:20.013Z',
      },
    },
  ],
  precondition_failed: ['The resource has changed: its ETag is now "3".'],
  payload_too_large: ['The body is larger than 1048576 bytes.'],
  unsupported_media_type: ['The body must be application/json.'],
  validation_error: [
    'per_page must not be greater than 100.',
    {
      details: {
        errors: [
          { field: 'per_page', code: 'max', message: 'per_page must not be greater than 100.' },
        ],
      },
    },
  ],
  weak_password: [
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
  ],
  idempotency_key_reused: [
    'This Idempotency-Key was used for another request within the last 24 hours.',
  ],
  rate_limited: ['No more than 100 of these requests per minute are allowed; try again in 12 s.'],
  internal_error: ['An unexpected error occurred.'],
  ai_unavailable: ['The provider did not answer in time.', { details: { reason: 'timeout' } }],
  service_unavailable: ['The database is not available.'],
};

export const ERROR_EXAMPLES = Object.fromEntries(
  Object.entries(ANSWERS).map(([code, [message, more]]) => [
    code,
    refused(code as ErrorCode, message, more),
  ]),
);
