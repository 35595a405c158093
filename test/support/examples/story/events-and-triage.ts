import { by, type Scene } from '../scene.js';

/** An event in the generic format. */
export const malwareAlert = (alert_id: string) => ({
  event_type: 'malware',
  timestamp: '2026-01-31T09:30:00Z',
  source: 'siem',
  data: { alert_id, severity: 'high', details: { host: 'web-1.example.com' } },
});
const ALARM = { alarm: { rule: 'Impossible travel', level: 'warn', key: 'a-17' } };

export const EVENTS: readonly Scene[] = [
  by.nobody('receiveWebhook', 200, {
    shows: ['generic', 'The generic format'],
    path: { source: 'siem' },
    body: malwareAlert('alert-4711'),
  }),
  by.nobody('receiveWebhook', 200, {
    shows: ['email_alert', 'An alert about a mail'],
    path: { source: 'siem' },
    body: {
      eventType: 'AlertCreated',
      id: 'fa2c1d0e-0001',
      creationTime: '2026-01-31T09:30:00Z',
      severity: 'High',
      category: 'Phish',
      entityType: 'MailMessage',
      data: {
        sender: 'ceo@examp1e.com',
        subject: 'Urgent wire transfer',
        recipients: ['finance@example.com'],
      },
    },
  }),
  by.nobody('receiveWebhook', 200, {
    shows: ['endpoint_alert', 'An alert about a host'],
    path: { source: 'siem' },
    body: {
      metadata: { eventType: 'DetectionSummaryEvent', eventCreationTime: 1769851800000 },
      event: {
        DetectId: 'ldt:0a1b2c:4711',
        Severity: 4,
        HostnameField: 'WS-0042',
        DetectName: 'Suspicious PowerShell',
      },
    },
  }),
  by.nobody('receiveWebhook', 200, {
    shows: ['log_alert', 'An alert about logs'],
    path: { source: 'siem' },
    body: {
      search_name: 'Many failed logins',
      trigger_time: 1769851800,
      result: {
        host: 'dc-1',
        source: 'WinEventLog:Security',
        sourcetype: 'WinEventLog',
        _raw: 'EventCode=4625 …',
        EventCode: '4625',
      },
    },
  }),
  by.nobody('receiveWebhook', 200, {
    shows: ['ocsf', 'A finding in OCSF'],
    path: { source: 'siem' },
    body: {
      class_uid: 2004,
      severity_id: 4,
      severity: 'High',
      finding_info: { uid: 'finding-4711', title: 'Files are being encrypted' },
      device: { hostname: 'fs-1.example.com' },
    },
  }),
  by.nobody('receiveWebhook', 200, {
    shows: ['duplicate', 'The same event again'],
    path: { source: 'siem' },
    body: malwareAlert('alert-4711'),
  }),
  by.nobody('receiveWebhook', 202, {
    shows: ['queued', 'Many arrive at once: a worker makes the incident'],
    path: { source: 'siem' },
    body: malwareAlert('alert-4712'),
    hurried: true,
  }),
  by.nobody('receiveWebhook', 422, {
    path: { source: 'siem' },
    body: ALARM,
    code: 'validation_error',
    keeps: { failedEvent: '/error/details/event_id' },
  }),
  by.nobody('receiveWebhook', 401, {
    path: { source: 'siem' },
    headers: { 'x-webhook-signature': 'sha256=00' },
    body: ALARM,
    code: 'invalid_signature',
  }),
  by.nobody('receiveWebhook', 404, {
    path: { source: 'nobody' },
    body: ALARM,
    code: 'unknown_source',
  }),
  by.alice('listWebhookEvents', 200, {
    shows: ['failed', 'Those that failed'],
    query: { status: 'failed' },
  }),
  by.alice('getWebhookEvent', 200, {
    shows: ['failed', 'It fits no format'],
    path: { id: '{failedEvent}' },
  }),
  by.alice('getAttention', 200, { shows: ['failed_event', 'An event that nobody could read'] }),
  by.alice('completeAttentionItem', 200, {
    shows: ['done', 'Somebody sees to it'],
    path: { id: 'webhook_event_failed.{failedEvent}' },
    body: { reason: 'The mapping of the source is being mended.' },
  }),
  by.alice('completeAttentionItem', 404, {
    path: { id: 'webhook_event_failed.{failedEvent}' },
    body: { reason: 'The mapping of the source is being mended.' },
    code: 'not_found',
  }),
  by.admin('updateWebhookSource', 200, {
    shows: ['mapping', 'Say where its events have what'],
    path: { source: 'siem' },
    body: {
      mapping: { title: '/alarm/rule', severity: '/alarm/level', event_id: '/alarm/key' },
      severity_mapping: { warn: 'medium' },
    },
  }),
  by.alice('replayWebhookEvent', 200, {
    shows: ['processed', 'It makes an incident now'],
    path: { id: '{failedEvent}' },
  }),
  by.alice('replayWebhookEvent', 409, { path: { id: '{failedEvent}' }, code: 'invalid_state' }),
  by.alice('getWebhookEvent', 200, {
    shows: ['processed', 'It made an incident'],
    path: { id: '{failedEvent}' },
  }),
  by.admin('deleteWebhookSource', 200, {
    shows: ['deleted', 'It is deleted'],
    path: { source: 'prometheus' },
  }),
  by.admin('getWebhookSource', 404, { path: { source: 'prometheus' }, code: 'not_found' }),
  by.alice('createIncident', 201, {
    shows: ['phishing', 'A mail that somebody reported'],
    body: {
      incident_type: 'phishing',
      source: 'email-gateway',
      severity: 'high',
      raw_data: {
        message_id: '<4f2a1c@mail.example.net>',
        sender: 'ceo@examp1e.com',
        recipient: 'finance@example.com',
        subject: 'Urgent wire transfer',
        received_at: '2026-01-31T09:29:41Z',
      },
    },
    keeps: { mail: '/data/id' },
  }),
  by.alice('createIncident', 201, {
    shows: ['suspicious_login', 'A login, with a title of its own'],
    body: {
      incident_type: 'suspicious_login',
      source: 'identity-provider',
      title: 'j.doe logged in from two countries within an hour',
      raw_data: { user: 'j.doe@example.com', ip: '203.0.113.7' },
    },
    keeps: { strangeLogin: '/data/id' },
  }),
  by.alice('createIncident', 422, {
    body: { incident_type: 'Phishing', severity: 'urgent' },
    code: 'validation_error',
  }),
  by.alice('triageIncident', 200, {
    shows: ['completed', 'The verdict'],
    path: { id: '{mail}' },
    keeps: { triageRun: '/data/triage_id' },
  }),
  by.alice('triageIncident', 202, {
    shows: ['queued', 'Later: `Prefer: respond-async`'],
    path: { id: '{strangeLogin}' },
    headers: { Prefer: 'respond-async' },
    body: { playbook: 'suspicious-login' },
    keeps: { queuedRun: '/data/triage_id' },
  }),
  by.alice('triageIncident', 422, {
    path: { id: '{strangeLogin}' },
    body: { playbook: 'no-such-playbook' },
    code: 'validation_error',
  }),
  by.alice('listTriageRuns', 200, { shows: ['one', 'One run'], path: { id: '{mail}' } }),
  by.alice('getTriageRun', 200, {
    shows: ['completed', 'It has a verdict'],
    path: { id: '{mail}', triage_id: '{triageRun}' },
  }),
  by.alice('listIncidents', 200, {
    shows: ['severe_mails', 'Severe mails that nobody has resolved, the worst and oldest first'],
    query: {
      status: 'open,triaged',
      severity: 'high,critical',
      type: 'phishing',
      source: 'email-gateway',
      sort: '-severity,created_at',
    },
  }),
  by.alice('listIncidentChanges', 200, {
    shows: ['from_beginning', 'The first request: what exists comes first'],
    query: { from: 'beginning', limit: '1' },
  }),
  by.alice('updateIncident', 200, {
    shows: ['rate_again', 'Rate it again, if nobody changed it meanwhile'],
    path: { id: '{mail}' },
    headers: { 'If-Match': '"2"' },
    body: { severity: 'critical', title: 'CEO fraud against finance' },
  }),
  by.alice('updateIncident', 412, {
    path: { id: '{mail}' },
    headers: { 'If-Match': '"2"' },
    body: { severity: 'high' },
    code: 'precondition_failed',
  }),
  by.alice('getTriageRun', 200, {
    path: { id: '{strangeLogin}', triage_id: '{queuedRun}' },
    until: { '/data/status': 'completed' },
  }),
  by.alice('updateIncident', 200, {
    shows: ['decide_by_hand', 'Decide by hand'],
    path: { id: '{strangeLogin}' },
    body: {
      verdict: {
        classification: 'benign',
        confidence: 0.9,
        category: 'legitimate',
        reasoning: 'j.doe was on a flight with Wi-Fi, and confirms it.',
      },
    },
  }),
  by.alice('updateIncident', 422, {
    path: { id: '{mail}' },
    body: { severity: 'none' },
    code: 'validation_error',
  }),
];
