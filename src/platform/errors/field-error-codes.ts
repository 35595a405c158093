/**
 * Every code that an entry of `details.errors` may have, with what it says. The OpenAPI document shows this list; a test
 * holds it against the code, and the end-to-end tests against each answer.
 */
export const FIELD_ERROR_CODES = {
  required: 'the field is missing',
  unknown_field: 'there is no such field, parameter or setting',
  unchanged: 'the new value is the old one',
  not_empty: 'the body changes nothing: at least one field must be given',

  is_array: 'must be a list',
  is_boolean: 'must be true or false',
  is_int: 'must be a whole number, in the range that the message says',
  is_integer: 'must be a whole number, in the range that the message says',
  integer_range: 'must be a whole number, in the range that the message says',
  is_json_object: 'must be an object',
  is_number: 'must be a number',
  is_object: 'the body must be an object',
  is_scalar: 'must be a string, a number, true, false or null',
  is_string: 'must be a string',
  nested_validation: 'must hold objects of the documented shape',
  object_or_string: 'must be an object or a string',

  is_in: 'is none of the allowed values',
  words: 'must be one or several of the allowed values, separated by commas',
  not_equals: 'is a value that is reserved',
  unknown_format: 'fits no format of the webhook source; details.event_id is the failed event',
  matches: 'does not have the documented pattern',
  is_not_empty: 'must not be empty',
  is_length: 'is too short or too long',
  length: 'is too short or too long',
  min_length: 'is too short',
  max_length: 'is too long',
  min: 'is too small',
  max: 'is too large',
  array_max_size: 'has too many items',
  size: 'has too few or too many entries',
  unique: 'names something twice',

  is_domain: 'must be a domain name',
  is_email: 'must be an email address',
  is_ip: 'must be an IP address',
  is_url: 'must be a whole http or https address',
  is_uuid: 'must be a UUID',
  is_iso_8601: 'must be a time as ISO 8601 has it',
  is_iso_time: 'must be a time as ISO 8601 has it, with its zone',

  password: 'is too short or too long for a password',
  weak_password: 'is too easy to guess; always under the error code `weak_password`',

  max_bytes: 'is too large, as JSON',
  max_depth: 'is nested too deeply',
  too_deep: 'the body is nested too deeply',
  too_many_values: 'the body has too many keys or values',
  too_many_fields: 'the form has too many fields',
  duplicate_key: 'is given more than once',
  forbidden_key: 'is not allowed as a key',
  nul_character: 'contains a NUL character',
  lone_surrogate: 'contains half of a surrogate pair',
  inexact_number: 'is a whole number that JSON numbers do not hold exactly: send it as a string',
  format_character: 'has control, zero-width or direction characters, which could hide a target',

  expression: 'has an expression that cannot be used; the message says at which character, and why',
  playbook: 'does not fit the rest of the playbook; the message says why',
  unknown_playbook: 'names no playbook, or one that is disabled',

  secret_required: 'a secret must be given again, because it would be sent elsewhere than before',
  https_required: 'must be an https address, because secrets are sent to it',
  target_refused: 'is an address that this service does not call',
  header: 'is no header, or no text that a header can hold',
  reserved: 'is a header that the service sets',
  path: 'must be a plain path',
  form: 'must be text, because the body is sent as a form',
  json: 'must be JSON',
  json_pointer: 'must be a JSON pointer, as RFC 6901 has it, or a list of them',
  template: 'has a template that cannot be filled in',
} as const;

export const FIELD_ERROR_CODES_IN_WORDS = Object.entries(FIELD_ERROR_CODES)
  .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
  .join('\n');
