import { by, type Scene } from '../scene.js';

/** Cursor of the year 1970. */
const EXPIRED_CURSOR = Buffer.from(`2 incident 1000  0 ${'0'.repeat(64)} list `).toString(
  'base64url',
);

/** Errors that every operation can return. */
export const ERRORS: readonly Scene[] = [
  by.alice('createIncident', 400, {
    headers: { 'content-type': 'application/json' },
    body: '{"title": ',
    code: 'bad_request',
  }),
  by.alice('listIncidentChanges', 410, {
    query: { cursor: EXPIRED_CURSOR },
    code: 'cursor_expired',
  }),
  by.nobody('listIncidents', 401, { code: 'unauthorized' }),
  by.alice('createIncident', 415, {
    headers: { 'content-type': 'text/plain' },
    body: 'A mail.',
    code: 'unsupported_media_type',
  }),
  by.alice('createIncident', 413, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'x'.repeat(1_048_576) }),
    code: 'payload_too_large',
  }),
  by.alice('executeAction', 200, {
    headers: { 'Idempotency-Key': '2f6f2a2e-look-up' },
    body: { action: 'lookup_domain', parameters: { domain: 'example.net' } },
  }),
  by.alice('executeAction', 422, {
    headers: { 'Idempotency-Key': '2f6f2a2e-look-up' },
    body: { action: 'lookup_domain', parameters: { domain: 'example.org' } },
    code: 'idempotency_key_reused',
  }),
  by.nobody('receiveWebhook', 401, {
    path: { source: 'siem' },
    headers: { 'x-webhook-timestamp': '1769851800' },
    body: { event_type: 'malware' },
    code: 'timestamp_expired',
  }),
  by.alice('updateIncident', 409, {
    path: { id: '{mail}' },
    body: { status: 'open' },
    code: 'already_resolved',
  }),
  by.admin('createApiKey', 201, {
    body: { name: 'poller', role: 'viewer', limits: { read: 1 } },
    keeps: { pollerKey: '/data/key' },
  }),
  by.nobody('getMe', 200, { headers: { authorization: 'Bearer {pollerKey}' } }),
  by.nobody('getMe', 429, {
    headers: { authorization: 'Bearer {pollerKey}' },
    code: 'rate_limited',
  }),
  by.alice('executeAction', 202, {
    body: { action: 'block_domain', parameters: { domain: 'example.net' } },
    hurried: true,
  }),
  by.alice('executeAction', 409, {
    body: { action: 'block_domain', parameters: { domain: 'example.net' } },
    code: 'duplicate_action',
    hurried: true,
  }),
];

/** Errors that no request of the story can cause. */
export const UNPLAYED_ERRORS = {
  triage_in_progress: {
    message: 'A triage run of the incident is running.',
    details: { triage_id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e', status: 'running' },
  },
  internal_error: { message: 'An unexpected error occurred.' },
  ai_unavailable: {
    message: 'The provider did not answer in time.',
    details: { reason: 'timeout' },
  },
};

/** Responses of a service in trouble: failed jobs and deliveries, and an unreachable database. */
export const TROUBLES: readonly Scene[] = [
  by.admin('createNotificationChannel', 201, {
    body: {
      name: 'pager',
      type: 'webhook',
      config: { url: '{receiver}' },
      events: ['kill_switch.activated'],
    },
    keeps: { pager: '/data/id' },
  }),
  by.admin('testNotificationChannel', 200, {
    shows: ['delivered', 'The message arrives'],
    path: { id: '{pager}' },
  }),
  by.alice('activateKillSwitch', 200, { body: { reason: 'A drill.' } }),
  by.admin('listNotificationDeliveries', 200, {
    path: { id: '{pager}' },
    until: { '/data/0/status': 'delivered' },
  }),
  by.carol('deactivateKillSwitch', 200, { body: { reason: 'The drill is over.' } }),
  by.admin('listNotificationDeliveries', 200, {
    shows: ['dead', 'What did not arrive'],
    path: { id: '{pager}' },
    query: { status: 'dead' },
    keeps: { delivery: '/data/0/id' },
    before: 'a delivery dies',
  }),
  by.admin('redeliverNotification', 202, {
    shows: ['again', 'Try it for another day'],
    path: { id: '{pager}', delivery_id: '{delivery}' },
  }),
  by.admin('redeliverDeadNotifications', 202, {
    shows: ['day', 'Try what was given up in one day'],
    path: { id: '{pager}' },
    body: { since: '2026-01-31T00:00:00.000Z' },
    before: 'a delivery dies',
  }),
  by.admin('listDeadJobs', 200, {
    shows: ['of_a_queue', 'Those of one queue'],
    query: { queue: 'reports' },
    until: { '/meta/total': 1 },
    keeps: { deadJob: '/data/0/id' },
    before: 'a job fails',
  }),
  by.admin('requeueDeadJob', 200, {
    shows: ['requeued', 'It is tried again'],
    path: { id: '{deadJob}' },
  }),
  by.nobody('getHealth', 503, {
    shows: ['unhealthy', 'The service does not work'],
    hurried: true,
    until: { '/status': 'unhealthy' },
    before: 'the database goes away',
  }),
  ...['getDetailedHealth', 'getHealthUnderApi', 'getDetailedHealthUnderApi'].map(
    (operation): Scene =>
      by.monitor(operation, 503, {
        shows: ['unhealthy', 'The database cannot be reached'],
        hurried: true,
      }),
  ),
  ...['getReadiness', 'getReadinessUnderApi'].map((operation): Scene =>
    by.monitor(operation, 503, {
      shows: ['not_ready', 'The database cannot be reached'],
      hurried: true,
    }),
  ),
  by.alice('getMe', 503, { code: 'service_unavailable', hurried: true }),
];
