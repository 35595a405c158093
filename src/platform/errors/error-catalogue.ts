/** All error codes. The OpenAPI document, the error filter and the tests read this list. */
export const ERROR_CATALOGUE = {
  bad_request: [400, 'The request is malformed: its body, a header or its query.'],
  rollback_not_supported: [400, 'The action type has no inverse.'],
  unauthorized: [401, 'The key or session is missing, unknown, expired or revoked.'],
  invalid_credentials: [401, 'The user name or password in the request is wrong.'],
  invalid_signature: [401, 'The webhook signature is missing or does not verify.'],
  timestamp_expired: [401, 'The webhook timestamp is more than 5 minutes off.'],
  forbidden: [403, 'The role is too low, or the origin of the request is another site or missing.'],
  insufficient_approval_level: [403, "The caller's approval level is below the action's."],
  not_found: [404, 'The resource does not exist.'],
  unknown_source: [404, 'The webhook source is not registered or is disabled.'],
  method_not_allowed: [405, 'The address does not support this method: see the Allow header.'],
  conflict: [409, 'The name is taken, or a request with the same Idempotency-Key is running.'],
  invalid_state: [409, 'The current state of the resource does not allow the request.'],
  already_resolved: [409, 'Reopening a resolved incident needs `reopen: true` or If-Match.'],
  duplicate_action: [409, 'The same action on the same target is running or recent: see `repeat`.'],
  triage_in_progress: [409, 'A triage run of the incident is in progress.'],
  kill_switch_active: [409, 'The kill switch is on.'],
  cursor_expired: [410, 'The cursor is too old, or from before a restore: see details.reason.'],
  precondition_failed: [
    412,
    'If-Match does not name the current version. For incidents and playbooks, `details` has the author and time of the last change (`changed_by`, `changed_at`), the changed `fields`, and their `current` values.',
  ],
  payload_too_large: [413, 'The body exceeds the size limit.'],
  unsupported_media_type: [415, 'This address does not accept the content type of the body.'],
  validation_error: [422, 'The request has invalid fields: see details.errors.'],
  weak_password: [422, 'The password is common or contains the user name: see details.errors.'],
  idempotency_key_reused: [422, 'The Idempotency-Key belongs to another request.'],
  rate_limited: [429, 'Too many requests: see Retry-After.'],
  internal_error: [500, 'An unexpected error. The log describes it under the request_id.'],
  service_unavailable: [503, 'The database is unreachable, or the service stops or is overloaded.'],
  ai_unavailable: [503, 'The AI provider is not configured or does not respond.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export const statusOf = (code: ErrorCode): number => ERROR_CATALOGUE[code][0];
export const meaningOf = (code: ErrorCode): string => ERROR_CATALOGUE[code][1];
