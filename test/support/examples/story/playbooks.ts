import { by, type Scene } from '../scene.js';

const STEPS = [
  {
    name: 'quarantine',
    action: 'quarantine_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(incident.raw_data.message_id)',
    on_error: 'stop',
  },
  {
    name: 'delete',
    action: 'delete_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(steps.quarantine.result)',
    approval_level: 'senior',
    on_error: 'continue',
  },
  {
    name: 'tell_team',
    action: 'notify_channel',
    parameters: {
      channel: '{{ variables.channel }}',
      message: 'The mail of {{ incident.incident_number }} is dealt with.',
    },
    on_error: 'continue',
  },
];

const REPORTED_MAIL = {
  name: 'reported-mail',
  description: 'Takes a mail that somebody reported out of the mailbox.',
  enabled: true,
  triggers: { incident_types: ['phishing'], severities: ['high', 'critical'], sources: [] },
  auto_run: false,
  trust_verdict: false,
  variables: { channel: '#soc' },
  steps: STEPS,
};
const BROKEN = {
  ...REPORTED_MAIL,
  steps: [{ ...STEPS[0], condition: 'has(incident.raw_data.message_id' }],
};

export const PLAYBOOKS: readonly Scene[] = [
  by.bob('createPlaybook', 201, {
    shows: ['reported_mail', 'What to do about a reported mail'],
    body: REPORTED_MAIL,
    keeps: { playbook: '/data/id' },
  }),
  by.bob('createPlaybook', 409, { body: REPORTED_MAIL, code: 'conflict' }),
  by.bob('createPlaybook', 422, { body: { ...BROKEN, name: 'other' }, code: 'validation_error' }),
  by.alice('validatePlaybook', 200, { shows: ['valid', 'It can be saved'], body: REPORTED_MAIL }),
  by.alice('validatePlaybook', 422, { body: BROKEN, code: 'validation_error' }),
  by.alice('getPlaybook', 200, {
    shows: ['by_name', 'By its name'],
    path: { id: 'reported-mail' },
  }),
  by.alice('listPlaybooks', 200, { shows: ['newest', 'The newest'], query: { per_page: '1' } }),
  by.alice('runPlaybook', 200, {
    shows: ['dry_run', 'What would happen'],
    path: { id: 'reported-mail' },
    body: { incident_id: '{mail}', dry_run: true },
  }),
  by.alice('runPlaybook', 202, {
    shows: ['waiting_approval', 'It waits for an approval'],
    path: { id: 'reported-mail' },
    body: { incident_id: '{mail}', variables: { channel: '#soc-night' } },
    keeps: { run: '/data/run_id' },
  }),
  by.alice('listPlaybookRuns', 200, {
    shows: ['waiting_approval', 'Those that wait for approval'],
    path: { id: 'reported-mail' },
    query: { status: 'waiting_approval' },
  }),
  by.alice('listAllPlaybookRuns', 200, {
    shows: ['of_incident', 'Those about an incident'],
    query: { incident_id: '{mail}' },
  }),
  by.alice('findPlaybookRun', 200, {
    shows: ['waiting_approval', 'A step waits for approval'],
    path: { run_id: '{run}' },
  }),
  by.bob('cancelPlaybookRun', 200, {
    shows: ['cancelled', 'It is cancelled'],
    path: { id: 'reported-mail', run_id: '{run}' },
  }),
  by.bob('cancelPlaybookRun', 409, {
    path: { id: 'reported-mail', run_id: '{run}' },
    code: 'invalid_state',
  }),
  by.alice('runPlaybook', 202, {
    path: { id: 'reported-mail' },
    body: { incident_id: '{mail}' },
    keeps: { secondStepAction: '/data/steps/1/action_id', secondRun: '/data/run_id' },
  }),
  by.bob('approveAction', 200, { path: { id: '{secondStepAction}' } }),
  by.alice('getPlaybookRun', 200, {
    shows: ['completed', 'It has ended'],
    path: { id: 'reported-mail', run_id: '{secondRun}' },
    until: { '/data/status': 'completed' },
  }),
  by.bob('updatePlaybook', 200, {
    shows: ['disable', 'Stop it, if nobody changed it meanwhile'],
    path: { id: 'reported-mail' },
    headers: { 'If-Match': '"{playbook}-1"' },
    body: { description: 'For what people report.', enabled: false },
  }),
  by.bob('updatePlaybook', 412, {
    path: { id: 'reported-mail' },
    headers: { 'If-Match': '"{playbook}-1"' },
    body: { enabled: true },
    code: 'precondition_failed',
  }),
  by.bob('updatePlaybook', 409, {
    path: { id: 'reported-mail' },
    body: { name: 'phishing-response' },
    code: 'conflict',
  }),
  by.alice('listPlaybookVersions', 200, {
    shows: ['newest', 'The newest'],
    path: { id: 'reported-mail' },
    query: { per_page: '1' },
  }),
  by.alice('runPlaybook', 409, {
    path: { id: 'reported-mail' },
    body: { incident_id: '{mail}' },
    code: 'invalid_state',
  }),
  by.bob('deletePlaybook', 200, {
    shows: ['deleted', 'It is deleted'],
    path: { id: 'reported-mail' },
  }),
  by.bob('getPlaybook', 404, { path: { id: 'reported-mail' }, code: 'not_found' }),
];
