import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from './generated/client';
import * as api from './generated';
import { dataOf, given, ok, signed } from './support';

/** The scenario of openapi/clients/scenario.json, by the client that @hey-api/openapi-ts makes. */
const RUN = given('RUN');
const SECRET = 'v7Zq-1mC4tXs9bLw2RkE8yHd';

type Client = ReturnType<typeof createClient>;

const clientOf = (key: string): Client =>
  createClient({ baseUrl: given('SERVICE_URL'), auth: () => key });

async function newKey(admin: Client, body: Omit<api.CreateApiKeyData['body'], 'name'>) {
  const made = await api.createApiKey({
    client: admin,
    body: { ...body, name: `${body.role}-${RUN}` },
  });
  return clientOf(dataOf(made).data.key);
}

async function incidents(client: Client): Promise<api.Incident> {
  const body: api.CreateIncidentData['body'] = {
    incident_type: 'phishing',
    source: RUN,
    severity: 'high',
    raw_data: { message_id: '<1@mail.example.net>', sender: 'ceo@example.net' },
  };
  const headers = { 'Idempotency-Key': `report-${RUN}` };
  const { data: first } = dataOf(await api.createIncident({ client, body, headers }));
  const { data: again } = dataOf(await api.createIncident({ client, body, headers }));
  assert.equal(again.id, first.id);
  const { data: second } = dataOf(await api.createIncident({ client, body }));
  ok('create');

  const query: api.ListIncidentsData['query'] = {
    status: ['open', 'triaged'],
    severity: ['high', 'critical'],
    source: RUN,
    sort: ['-created_at'],
    per_page: 1,
  };
  const { data: newest, meta } = dataOf(await api.listIncidents({ client, query }));
  assert.deepEqual([newest[0]?.id, newest.length, meta.total], [second.id, 1, 2]);
  ok('list');

  const next = { ...query, page: meta.page + 1 };
  const { data: oldest } = dataOf(await api.listIncidents({ client, query: next }));
  assert.equal(oldest[0]?.id, first.id);
  ok('next page');

  return update(client, { id: first.id });
}

async function update(client: Client, path: { id: string }): Promise<api.Incident> {
  const { response } = await api.getIncident({ client, path });
  const headers = { 'If-Match': response?.headers.get('etag') ?? '' };
  const raised = await api.updateIncident({
    client,
    path,
    headers,
    body: { severity: 'critical' },
  });
  assert.equal(dataOf(raised).data.severity, 'critical');
  ok('update');

  const stale = await api.updateIncident({ client, path, headers, body: { severity: 'low' } });
  assert.equal(stale.response?.status, 412);
  assert.equal(stale.error?.error.code, 'precondition_failed');
  const { data: incident } = dataOf(await api.getIncident({ client, path }));
  assert.equal(incident.severity, 'critical');
  ok('stale');
  return incident;
}

async function actions(client: Client, senior: Client, { id }: api.Incident): Promise<void> {
  const executed = await api.executeIncidentAction({
    client,
    path: { id },
    body: {
      action: 'isolate_host',
      parameters: { host_id: 'WS-0142', reason: 'It talks to a known address.' },
    },
  });
  assert.equal(executed.response?.status, 202);
  const { data: waiting } = dataOf(executed);
  assert.deepEqual([waiting.status, waiting.approval_level], ['pending_approval', 'senior']);
  ok('execute');

  const path = { id: waiting.action_id };
  const body = { comment: 'Confirmed with the owner of the host.' };
  const low = await api.approveAction({ client, path, body });
  assert.equal(low.response?.status, 403);
  assert.equal(low.error?.error.code, 'insufficient_approval_level');
  assert.equal(low.error.error.your_level, 'analyst');
  const { data: approved } = dataOf(await api.approveAction({ client: senior, path, body }));
  assert.deepEqual([approved.status, approved.result?.simulated], ['completed', true]);
  ok('approve');

  const again = { client: senior, path, body: { reason: 'It was a false alarm.' } };
  const { data: back } = dataOf(await api.rollBackAction(again));
  assert.equal(back.status, 'completed');
  assert.notEqual(back.rollback_action_id, waiting.action_id);
  ok('roll back');

  const twice = await api.rollBackAction(again);
  assert.equal(twice.response?.status, 409);
  assert.equal(twice.error?.error.code, 'invalid_state');
  ok('conflict');
}

async function triage(client: Client, { id }: api.Incident): Promise<void> {
  const { data: judged } = dataOf(await api.triageIncident({ client, path: { id } }));
  assert.equal(judged.status, 'completed');
  assert.ok(judged.verdict?.classification);
  assert.ok(judged.verdict.confidence >= 0 && judged.verdict.confidence <= 1);
  ok('triage');

  const limited = await api.triageIncident({ client, path: { id } });
  assert.equal(limited.response?.status, 429);
  assert.equal(limited.error?.error.code, 'rate_limited');
  assert.ok(limited.response.headers.get('retry-after'));
  ok('limited');
}

async function playbook(client: Client, senior: Client, incident: api.Incident): Promise<void> {
  const made = await api.createPlaybook({
    client: senior,
    body: {
      name: `playbook-${RUN}`,
      steps: [
        {
          name: 'ticket',
          action: 'create_ticket',
          parameters: { title: '{{ incident.incident_number }}' },
        },
      ],
    },
  });
  const { id } = dataOf(made).data;
  const body = { incident_id: incident.id };
  const { data: begun } = dataOf(await api.runPlaybook({ client, path: { id }, body }));
  assert.ok(begun.kind === 'run');
  ok('run');

  const path = { id, run_id: begun.run_id };
  let { data: run } = dataOf(await api.getPlaybookRun({ client, path }));
  while (run.status === 'running') {
    await sleep(100);
    ({ data: run } = dataOf(await api.getPlaybookRun({ client, path })));
  }
  assert.deepEqual([run.status, run.steps[0]?.status], ['completed', 'completed']);
  assert.ok(run.steps[0]?.result);
  ok('read the run');

  const edited = await api.updatePlaybook({
    client: senior,
    path: { id },
    body: { description: 'Opens a ticket.' },
  });
  const { description, steps } = dataOf(edited).data;
  assert.deepEqual([description, steps.length], ['Opens a ticket.', 1]);
  ok('edit');
}

async function receipt(admin: Client, analyst: Client): Promise<void> {
  dataOf(await api.createWebhookSource({ client: admin, body: { source: RUN, secret: SECRET } }));
  const event = { event_type: 'malware', data: { alert_id: 'alert-4711', severity: 'high' } };
  const received = await api.receiveWebhook({
    client: createClient({ baseUrl: given('SERVICE_URL') }),
    path: { source: RUN },
    headers: signed(JSON.stringify(event), SECRET),
    body: event,
  });
  const accepted = dataOf(received);
  assert.ok(accepted.status === 'accepted');
  const path = { id: accepted.incident_id };
  const { data: incident } = dataOf(await api.getIncident({ client: analyst, path }));
  assert.equal(incident.incident_number, accepted.incident_number);
  ok('receipt');
}

async function main(): Promise<void> {
  const admin = clientOf(given('ADMIN_KEY'));
  const analyst = await newKey(admin, { role: 'analyst', limits: { triage: 1 } });
  const senior = await newKey(admin, { role: 'senior' });
  ok('key');
  const incident = await incidents(analyst);
  await actions(analyst, senior, incident);
  await triage(analyst, incident);
  await playbook(analyst, senior, incident);
  await receipt(admin, analyst);

  const body = { incident_type: 'phishing', source: RUN, raw_data: { received_at: 'yesterday' } };
  const invalid = await api.createIncident({ client: analyst, body });
  assert.equal(invalid.response?.status, 422);
  assert.equal(invalid.error?.error.code, 'validation_error');
  assert.equal(invalid.error.error.details?.errors?.[0]?.field, 'raw_data.received_at');
  ok('invalid');
}

void main();
