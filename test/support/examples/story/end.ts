import { by, type Scene } from '../scene.js';

export const END: readonly Scene[] = [
  by.alice('getKillSwitch', 200, { shows: ['off', 'It is off'] }),
  by.alice('activateKillSwitch', 200, {
    shows: ['activated', 'It is on'],
    body: { reason: 'The isolation playbook takes the wrong hosts.' },
  }),
  by.alice('getKillSwitch', 200, { shows: ['on', 'It is on'] }),
  by.alice('executeIncidentAction', 409, {
    path: { id: '{mail}' },
    body: { action: 'block_sender', parameters: { sender: 'ceo@examp1e.com' } },
    code: 'kill_switch_active',
  }),
  by.alice('deactivateKillSwitch', 403, {
    body: { reason: 'The playbook is corrected.' },
    code: 'forbidden',
  }),
  by.carol('deactivateKillSwitch', 200, {
    shows: ['resumed', 'What waited goes on'],
    body: { reason: 'The playbook is corrected.' },
  }),
  by.bob('updateIncident', 200, {
    shows: ['resolve', 'Resolve it'],
    path: { id: '{mail}' },
    body: { status: 'resolved', resolution: 'The mail was deleted from all mailboxes.' },
  }),
  by.alice('executeIncidentAction', 202, {
    path: { id: '{mail}' },
    body: { action: 'block_ip', parameters: { ip: '203.0.113.7' } },
    keeps: { lateBlock: '/data/action_id' },
  }),
  by.bob('approveAction', 409, { path: { id: '{lateBlock}' }, code: 'invalid_state' }),
  by.alice('listIncidentTimeline', 200, {
    shows: ['first', 'The first two entries'],
    path: { id: '{mail}' },
    query: { per_page: '2' },
  }),
  by.alice('listIncidentTimeline', 200, {
    shows: ['last', 'The last two, for whoever takes over'],
    path: { id: '{mail}' },
    query: { per_page: '2', sort: '-at' },
  }),
  by.alice('listIncidentReports', 200, {
    shows: ['none', 'No later event says anything else'],
    path: { id: '{mail}' },
  }),
  by.alice('listIncidents', 200, {
    shows: ['malicious', 'What was malicious and is resolved, resolved last first'],
    query: { classification: 'malicious', status: 'resolved', sort: '-resolved_at' },
  }),
  by.alice('getIncident', 200, { shows: ['resolved', 'Resolved'], path: { id: '{mail}' } }),
  by.admin('deleteIncident', 200, {
    shows: ['deleted', 'It is hidden'],
    path: { id: '{strangeLogin}' },
  }),
  by.admin('getIncident', 404, { path: { id: '{strangeLogin}' }, code: 'not_found' }),
  by.carol('listAudit', 200, {
    shows: ['incident_created', 'Who made an incident'],
    query: { subject: 'incident:{mail}', action: 'incident.created' },
    until: { '/data/0/action': 'incident.created' },
  }),
  by.carol('verifyAudit', 200, { shows: ['valid', 'Every entry is as it was written'] }),
  by.admin('exportAudit', 200, {
    shows: ['lines', 'Header, one entry, end'],
    query: { from: '2026-01-31T00:00:00Z' },
    excerpt: { lines: /^\{"type":"(export|entry|end)"/ },
  }),
  by.carol('getHealth', 200, { shows: ['healthy', 'All is well'] }),
  by.carol('getDetailedHealth', 200, { shows: ['healthy', 'All is well'] }),
  by.carol('getHealthUnderApi', 200, { shows: ['healthy', 'All is well'] }),
  by.carol('getDetailedHealthUnderApi', 200, { shows: ['healthy', 'All is well'] }),
  by.carol('getLiveness', 200, { shows: ['alive', 'It is alive'] }),
  by.carol('getLivenessUnderApi', 200, { shows: ['alive', 'It is alive'] }),
  by.carol('getReadiness', 200, { shows: ['ready', 'It takes requests'] }),
  by.carol('getReadinessUnderApi', 200, { shows: ['ready', 'It takes requests'] }),
  by.monitor('getMetrics', 200, {
    shows: ['excerpt', 'One of them'],
    excerpt: { lines: /http_requests_in_flight/ },
  }),
  by.monitor('getMetricsUnderApi', 200, {
    shows: ['excerpt', 'One of them'],
    excerpt: { lines: /http_requests_in_flight/ },
  }),
  by.carol('getOpenApiJson', 200, {
    shows: ['excerpt', 'Its beginning'],
    excerpt: { members: ['openapi', 'info'] },
  }),
  by.carol('getOpenApiYaml', 200, {
    shows: ['excerpt', 'Its beginning'],
    excerpt: { members: ['openapi', 'info'] },
  }),
  by.nobody('receiveWebhook', 422, {
    path: { source: 'siem' },
    body: {
      eventType: 'com.okta.event_hook',
      data: {
        events: [
          {
            uuid: 'b8f2c0d4-0001-11f0-8f4d-0f1d2c3b4a59',
            eventType: 'user.account.lock',
            displayMessage: 'Max sign in attempts exceeded',
            severity: 'DEBUG',
          },
        ],
      },
    },
    code: 'validation_error',
  }),
  by.carol('getPasswordPage', 200, { shows: ['page', 'The form'] }),
  by.carol('changePasswordByForm', 200, {
    shows: ['changed', 'A new password, with JSON'],
    body: { current_password: 'orchid-Kayak7-lantern', new_password: 'velvet-Tundra4-cymbal' },
  }),
  by.bob('logOut', 200, { shows: ['logged_out', 'The session has ended'] }),
];
