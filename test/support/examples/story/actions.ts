import { by, type Scene } from '../scene.js';

export const ACTIONS: readonly Scene[] = [
  by.alice('executeIncidentAction', 200, {
    shows: ['completed', 'It was done at once'],
    path: { id: '{mail}' },
    body: {
      action: 'quarantine_email',
      parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
    },
    keeps: { quarantine: '/data/action_id' },
  }),
  by.alice('executeIncidentAction', 202, {
    shows: ['pending_approval', 'It needs an approval'],
    path: { id: '{mail}' },
    body: {
      action: 'delete_email',
      parameters: { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
    },
    keeps: { deleteMail: '/data/action_id' },
  }),
  by.alice('executeIncidentAction', 200, {
    shows: ['failed', 'It failed: that is an outcome'],
    path: { id: '{mail}' },
    body: { action: 'create_ticket', parameters: { title: 'Tell finance about the mail.' } },
  }),
  by.alice('executeIncidentAction', 422, {
    path: { id: '{mail}' },
    body: { action: 'quarantine_email', parameters: { recipient: 'finance@example.com' } },
    code: 'validation_error',
  }),
  by.alice('executeAction', 200, {
    shows: ['completed', 'A look-up'],
    body: { action: 'lookup_domain', parameters: { domain: 'examp1e.com' } },
    keeps: { lookup: '/data/action_id' },
  }),
  by.alice('executeAction', 202, {
    shows: ['pending_approval', 'It needs an approval'],
    body: {
      action: 'block_domain',
      parameters: { domain: 'examp1e.com', reason: 'Imitates our domain.' },
    },
    keeps: { blockDomain: '/data/action_id' },
  }),
  by.alice('listActionTypes', 200, {
    shows: ['excerpt', 'Two of them'],
    excerpt: { items: ['quarantine_email', 'isolate_host'] },
  }),
  by.bob('listActions', 200, {
    shows: ['waiting', 'The newest that waits for approval'],
    query: { status: 'pending_approval', per_page: '1' },
  }),
  by.bob('listActionChanges', 200, {
    shows: ['from_beginning', 'The first request: what exists comes first'],
    query: { from: 'beginning', limit: '1' },
  }),
  by.alice('listIncidentActions', 200, {
    shows: ['newest', 'The newest'],
    path: { id: '{mail}' },
    query: { per_page: '1' },
  }),
  by.bob('getAction', 200, {
    shows: ['pending_approval', 'It waits for approval'],
    path: { id: '{deleteMail}' },
  }),
  by.alice('approveAction', 403, {
    path: { id: '{deleteMail}' },
    code: 'insufficient_approval_level',
  }),
  by.alice('rejectAction', 403, {
    path: { id: '{deleteMail}' },
    body: { reason: 'The mail is genuine after all.' },
    code: 'insufficient_approval_level',
  }),
  by.bob('approveAction', 200, {
    shows: ['completed', 'It was done'],
    path: { id: '{deleteMail}' },
    body: { comment: 'Seen in three mailboxes.' },
  }),
  by.bob('approveAction', 409, { path: { id: '{deleteMail}' }, code: 'invalid_state' }),
  by.alice('getAction', 200, {
    shows: ['completed', 'It was approved and done'],
    path: { id: '{deleteMail}' },
  }),
  by.bob('rejectAction', 200, {
    shows: ['rejected', 'It will not run'],
    path: { id: '{blockDomain}' },
    body: { reason: 'The proxy blocks it already.' },
  }),
  by.bob('rejectAction', 409, {
    path: { id: '{blockDomain}' },
    body: { reason: 'The proxy blocks it already.' },
    code: 'invalid_state',
  }),
  by.bob('executeAction', 202, {
    body: { action: 'block_ip', parameters: { ip: '203.0.113.7' } },
    keeps: { blockIp: '/data/action_id' },
  }),
  by.bob('approveAction', 403, { path: { id: '{blockIp}' }, code: 'forbidden' }),
  by.bob('rollBackAction', 200, {
    shows: ['completed', 'It is undone at once'],
    path: { id: '{quarantine}' },
    body: { reason: 'The mail is genuine after all.' },
  }),
  by.bob('rollBackAction', 409, {
    path: { id: '{quarantine}' },
    body: { reason: 'The mail is genuine after all.' },
    code: 'invalid_state',
  }),
  by.bob('rollBackAction', 400, {
    path: { id: '{lookup}' },
    body: { reason: 'x' },
    code: 'rollback_not_supported',
  }),
  by.alice('executeIncidentAction', 200, {
    path: { id: '{mail}' },
    body: { action: 'block_sender', parameters: { sender: 'ceo@examp1e.com' } },
    keeps: { blockSender: '/data/action_id' },
  }),
  by.alice('rollBackAction', 202, {
    shows: ['pending_approval', 'Where four eyes are wanted'],
    path: { id: '{blockSender}' },
    body: { reason: 'A partner writes from there.' },
    keeps: { unblockSender: '/data/rollback_action_id' },
  }),
  by.alice('getAction', 200, {
    shows: ['rolled_back', 'It was undone'],
    path: { id: '{quarantine}' },
  }),
  by.admin('updateConnector', 200, {
    path: { id: '{sandbox}' },
    body: { config: { latency_ms: 2000 } },
  }),
  by.alice('executeAction', 202, {
    shows: ['pending', 'It takes longer than a request'],
    body: {
      action: 'lookup_hash',
      parameters: { hash: '275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f' },
    },
    hurried: true,
  }),
  by.carol('approveAction', 202, {
    shows: ['pending', 'It takes longer than a request'],
    path: { id: '{unblockSender}' },
    hurried: true,
  }),
  by.admin('updateConnector', 200, {
    path: { id: '{sandbox}' },
    body: { config: { latency_ms: 0 } },
  }),
  by.carol('getAction', 200, {
    path: { id: '{unblockSender}' },
    until: { '/data/status': 'completed' },
  }),
];
