/**
 * Every error code that the service answers, with its HTTP status and meaning. The OpenAPI document, the filter and
 * the tests read this one list; a code that is not here cannot be thrown.
 */
export const ERROR_CATALOGUE = {
  bad_request: {
    status: 400,
    meaning: 'The request is malformed: its body, a header or its query.',
  },
  rollback_not_supported: { status: 400, meaning: 'The action type has no inverse.' },
  unauthorized: { status: 401, meaning: 'No, an unknown, an expired or a revoked key or session.' },
  invalid_credentials: {
    status: 401,
    meaning: 'The user name, the password or the current password is wrong.',
  },
  invalid_signature: {
    status: 401,
    meaning: 'The webhook signature is missing or does not verify.',
  },
  timestamp_expired: { status: 401, meaning: 'The webhook timestamp is more than 5 minutes off.' },
  forbidden: {
    status: 403,
    meaning:
      'The role is too low, or the request comes from another site or does not say where it comes from.',
  },
  insufficient_approval_level: {
    status: 403,
    meaning: "The caller's approval level is below the action's.",
  },
  not_found: { status: 404, meaning: 'The resource does not exist.' },
  unknown_source: { status: 404, meaning: 'The webhook source is not registered or disabled.' },
  method_not_allowed: { status: 405, meaning: 'The address exists, for other methods: see Allow.' },
  conflict: {
    status: 409,
    meaning: 'The name is taken, or a request with the same Idempotency-Key is still under way.',
  },
  invalid_state: { status: 409, meaning: 'The resource is in a state that does not allow this.' },
  already_resolved: {
    status: 409,
    meaning: 'The incident is resolved: opening it again needs `reopen: true` or If-Match.',
  },
  duplicate_action: {
    status: 409,
    meaning: 'The same action on the same target waits, runs or was done lately: see `repeat`.',
  },
  triage_in_progress: { status: 409, meaning: 'A triage run of the incident is under way.' },
  kill_switch_active: { status: 409, meaning: 'The kill switch is on.' },
  precondition_failed: {
    status: 412,
    meaning: 'If-Match names another version than the present one.',
  },
  payload_too_large: { status: 413, meaning: 'The body is larger than the service takes.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not of a type that this address takes.',
  },
  validation_error: {
    status: 422,
    meaning: 'Fields of the request are wrong: see details.errors.',
  },
  weak_password: {
    status: 422,
    meaning:
      'The password is a common one, or made of the user name or of words of this service: see details.errors.',
  },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The Idempotency-Key belongs to another request.',
  },
  rate_limited: { status: 429, meaning: 'Too many requests: see Retry-After.' },
  internal_error: {
    status: 500,
    meaning: 'An unexpected error; the log has it under the request_id.',
  },
  ai_unavailable: { status: 503, meaning: 'The AI provider is not configured or does not answer.' },
  service_unavailable: {
    status: 503,
    meaning:
      'The database is unreachable, the service is stopping, or too many bodies are under way.',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export function statusOf(code: ErrorCode): number {
  return ERROR_CATALOGUE[code].status;
}
