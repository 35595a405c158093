import { ERROR_CATALOGUE, type ErrorCode } from '../errors/error-catalogue.js';
import { MOST_FIELDS } from '../http/form-body.js';
import { FEW, MANY } from '../http/json-suspicion.js';

/* What somebody reads who meets this service for the first time, chapter by chapter. */

const BEGINNING = `Stores security incidents, triages them with an AI model, and runs response actions that people approve.

Every answer under \`/api\` is \`{data}\`, lists are \`{data, meta}\`, errors \`{error}\`; health, metrics and what a webhook
receipt answers have no envelope. A field without a value is left out, never null. Times are in UTC, with milliseconds:
\`2026-01-31T09:30:00.000Z\`.`;

const FIRST_KEY = `# The first key

The first start makes a user \`admin\` and an API key, and keeps both in \`bootstrap-credentials.json\` in the data directory
(\`.data\`, unless the operator chose another). Where an operator runs the service, an admin makes a key for you: \`POST /api/api-keys\`.
Give each program a key of its own, with the least role that does: \`viewer\` reads, \`analyst\` works on incidents,
\`senior\` writes playbooks, \`manager\` reads the audit trail and turns the kill switch off, \`admin\` sets up all the rest.
Each role includes those before it. A key goes into the header \`Authorization: Bearer its_…\`.`;

const FIVE_MINUTES = `# Five minutes

1. \`GET /api/me\` says who you are, with which role.
2. \`POST /api/incidents\` creates an incident; \`POST /api/incidents/{id}/triage\` asks for a verdict and waits for it.
3. \`POST /api/incidents/{id}/actions\` executes an action. 200: it has ended, \`status\` says how. 202: it waits for approval, or takes longer.
4. \`POST /api/actions/{id}/approve\` approves it, with a key or session whose approval level is high enough.
5. \`POST /api/actions/{id}/rollback\` undoes what can be undone; \`GET /api/incidents/{id}/timeline\` tells all that happened.

On a fresh installation a sandbox connector carries the actions out: it does nothing outside, and each result says \`simulated: true\`.
Each operation has its requests as code samples. They read \`SERVICE_URL\`, such as \`http://127.0.0.1:3000\`, and \`API_KEY\` from the environment.`;

const LISTS = `# Pages, order and filters

A list takes \`page\` (from 1) and \`per_page\` (1 to 100, by default 20). \`meta.total\` is exact; a page past the end is empty. \`sort\` takes
the name of a field, with a \`-\` before it for the other direction. Without it the newest comes first, by \`created_at\` (actions by \`requested_at\`,
which is the same moment; runs by their start; versions of a playbook by their number, the highest first); a timeline alone goes forward in time. What is equal is in the order of its ids, so
no page shows again what another showed. Filters are joined by *and*; where one takes several values, separated by commas, they are joined by *or*.
\`_after\` and \`_before\` leave the moment itself out, \`from\` and \`to\` include it. A parameter that an operation does not know is refused with 422.
Fixed catalogues (types of actions and of connectors, presets, health of connectors) have no pages.`;

const REPEATING = `# Repeating a request

Send \`Idempotency-Key\` with a POST, a fresh value (a UUID does) for each thing that you want done. The same key with the same
request within 24 hours has one effect and gives the first answer again, with \`Idempotency-Replayed: true\`: so a request whose answer
got lost can simply be sent again. With another request the key is refused (422 \`idempotency_key_reused\`); while the first is still
under way the second is 409 \`conflict\` with \`Retry-After\`. After an error the key is free again. PUT and DELETE do the same twice by themselves.`;

const CHANGING = `# Changing what others change, too

A PUT changes the fields that it gives and leaves the others. To change only what you have read, send the \`ETag\` of your
GET as \`If-Match\`: if somebody was faster, the answer is 412 \`precondition_failed\`, nothing has changed, and its ETag is the present one. Read again, and decide again.`;

const LIMITS = `# Limits

Per minute and principal: 100 reads, 20 writes, 10 triage requests, unless the operator or the key itself says otherwise. Each limited answer
tells \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (unix seconds). 429 has \`Retry-After\`: wait that many seconds.

A body may have BODY_LIMIT_BYTES (1 MiB unless the operator sets another), where no role is needed 16 KiB; more is 413. JSON
may nest 64 levels and have ${FEW.keys} keys and ${FEW.values} values, where \`raw_data\` is taken ${MANY.keys} and ${MANY.values}; a
form may have ${MOST_FIELDS} fields; more is 422. In bodies a key that is given twice, the key \`__proto__\` outside \`raw_data\`, a NUL
character, half of a surrogate pair and a whole number that JSON numbers do not hold exactly are refused with 422. When all bodies
under way have no room together the answer is 503 with \`Retry-After\`.`;

/** What a program, or whoever reads its log, should do about an error: one for each code, or the compiler complains. */
const WHAT_TO_DO: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'Mend the request; sending it again changes nothing.',
  rollback_not_supported: 'Undo it by hand; `GET /api/actions/types` says what can be rolled back.',
  already_resolved:
    'Show the person who resolved it, and how (`details`); send `reopen: true` if it is meant.',
  duplicate_action: 'Show the earlier action (`details`); send `repeat: true` if it is meant.',
  unauthorized: 'Check the key, or log in again.',
  invalid_credentials: 'Ask the person again.',
  invalid_signature: 'Check the secret, and that the very bytes are signed that are sent.',
  timestamp_expired: 'Set the clock of the sender, and sign each attempt anew.',
  forbidden: 'Ask somebody with `details.required_role`, or for a key with it.',
  insufficient_approval_level: 'Leave it to somebody who has `required_level`.',
  not_found: 'Do not try again: it is not there, or not any more.',
  unknown_source: 'Register the source, or enable it.',
  method_not_allowed: 'Use one of the methods that `Allow` lists.',
  conflict: 'Choose another name; for a request that is still under way, wait for `Retry-After`.',
  invalid_state: 'Read the resource: somebody was faster.',
  triage_in_progress: 'Read the run `details.triage_id` until it has ended.',
  kill_switch_active: 'Wait: `details.reason` says why everything stands still.',
  precondition_failed: 'Read it again, decide again, and send the new ETag.',
  payload_too_large: 'Send less.',
  unsupported_media_type: 'Send `Content-Type: application/json`.',
  validation_error: 'Mend the fields that `details.errors` lists.',
  weak_password: 'Choose a longer, less common password.',
  idempotency_key_reused: 'Make a fresh key for each thing that you want done.',
  rate_limited: 'Wait for `Retry-After`, then go on.',
  internal_error: 'Try again once; then tell the operator the `request_id`.',
  ai_unavailable: 'Try again later, or decide by hand: `details.reason` says what is wrong.',
  service_unavailable: 'Try again after `Retry-After`.',
};

const rows = (Object.keys(WHAT_TO_DO) as ErrorCode[]).map((code) => {
  const { status, meaning } = ERROR_CATALOGUE[code];
  return `| ${status} | \`${code}\` | ${meaning} | ${WHAT_TO_DO[code]} |`;
});

const ERRORS = `# Errors

An error is \`{error: {code, message, request_id, details?}}\`. Programs go by \`code\`, and by the status where they do not know the code;
the message is for people and may change. The log of the service knows the request by its \`request_id\`.

| status | code | meaning | what to do |
|---|---|---|---|
${rows.join('\n')}`;

const SESSIONS = `# Sessions

People log in at \`/login\` and then have a session in a cookie, which ends after 8 hours without a request, and after 24 in any case. A
request that changes something with the cookie has to say that it comes from this site, as browsers do: with \`Sec-Fetch-Site: same-origin\`,
or, without that header, with an \`Origin\` of this host. Otherwise it is 403 \`forbidden\`. Reads, and requests with a key, need neither. Programs use keys.`;

const COMPATIBILITY = `# Compatibility

Within this major version nothing is renamed, removed or given another meaning. What may come at any time: operations, optional
fields of requests, fields of answers, error codes, and values of sets that are said to be open. So ignore fields that you do not know, and
treat an unknown value as you treat the least specific one. What is to go is marked \`deprecated\` here, with the day of its end in its
description, for at least six months before.`;

export const CHAPTERS = [
  BEGINNING,
  FIRST_KEY,
  FIVE_MINUTES,
  LISTS,
  REPEATING,
  CHANGING,
  LIMITS,
  ERRORS,
  SESSIONS,
  COMPATIBILITY,
].join('\n\n');
