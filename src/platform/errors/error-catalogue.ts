/**
 * All error codes with HTTP status and meaning. The OpenAPI document, the error filter and the tests read this list; an
 * error with another code does not compile.
 */
export const ERROR_CATALOGUE = {
  bad_request: {
    status: 400,
    meaning: 'The request is malformed: its body, a header or its query.',
  },
  rollback_not_supported: { status: 400, meaning: 'The action type has no inverse.' },
  unauthorized: {
    status: 401,
    meaning: 'The key or session is missing, unknown, expired or revoked.',
  },
  invalid_credentials: {
    status: 401,
    meaning: 'The user name, the password or the current password is wrong.',
  },
  invalid_signature: {
    status: 401,
    meaning: 'The webhook signature is missing or does not verify.',
  },
  timestamp_expired: {
    status: 401,
    meaning: 'The webhook timestamp differs from the current time by more than 5 minutes.',
  },
  forbidden: {
    status: 403,
    meaning: 'The role is too low, or the request comes from another site or names no origin.',
  },
  insufficient_approval_level: {
    status: 403,
    meaning: "The caller's approval level is below the action's.",
  },
  not_found: { status: 404, meaning: 'The resource does not exist.' },
  unknown_source: { status: 404, meaning: 'The webhook source is not registered or is disabled.' },
  method_not_allowed: {
    status: 405,
    meaning: 'The address does not support this method: see the Allow header.',
  },
  conflict: {
    status: 409,
    meaning: 'The name is taken, or a request with the same Idempotency-Key is still running.',
  },
  invalid_state: { status: 409, meaning: 'The resource is in a state that does not allow this.' },
  already_resolved: {
    status: 409,
    meaning: 'The incident is resolved. Reopening it requires `reopen: true` or If-Match.',
  },
  duplicate_action: {
    status: 409,
    meaning:
      'The same action on the same target is pending, running or was executed recently: see `repeat`.',
  },
  triage_in_progress: { status: 409, meaning: 'A triage run of the incident is in progress.' },
  kill_switch_active: { status: 409, meaning: 'The kill switch is on.' },
  cursor_expired: {
    status: 410,
    meaning:
      'The cursor of a feed is too old, or the database was restored since then: see details.reason.',
  },
  precondition_failed: {
    status: 412,
    meaning:
      'If-Match does not name the current version. For incidents and playbooks, `details` has the author and time of the last change (`changed_by`, `changed_at`), the changed `fields`, and their `current` values.',
  },
  payload_too_large: { status: 413, meaning: 'The body exceeds the size limit.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'This address does not accept the content type of the body.',
  },
  validation_error: {
    status: 422,
    meaning: 'The request has invalid fields: see details.errors.',
  },
  weak_password: {
    status: 422,
    meaning:
      'The password is common, or contains the user name or words of this service: see details.errors.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The Idempotency-Key belongs to another request.',
  },
  rate_limited: { status: 429, meaning: 'Too many requests: see Retry-After.' },
  internal_error: {
    status: 500,
    meaning: 'An unexpected error. The log describes it under the request_id.',
  },
  service_unavailable: {
    status: 503,
    meaning:
      'The database is unreachable, the service is stopping, or too many request bodies are in progress.',
  },
  ai_unavailable: {
    status: 503,
    meaning: 'The AI provider is not configured or does not respond.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export function statusOf(code: ErrorCode): number {
  return ERROR_CATALOGUE[code].status;
}
