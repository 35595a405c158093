import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import axios, { type AxiosResponse } from 'axios';
import * as api from './generated/api';
import { given, ok, signed } from './support';

/** The scenario of openapi/clients/scenario.json, by the client that orval makes for axios. */
const RUN = given('RUN');
const SECRET = 'v7Zq-1mC4tXs9bLw2RkE8yHd';

type Client = ReturnType<typeof api.getIncidentTriageService>;

const clientOf = (key?: string): Client => {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return api.getIncidentTriageService(axios.create({ baseURL: given('SERVICE_URL'), headers }));
};

/** The answer with which the service refuses. */
async function refusalOf(
  request: Promise<unknown>,
  status: number,
  code: string,
): Promise<AxiosResponse<api.ErrorEnvelope>> {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(axios.isAxiosError<api.ErrorEnvelope>(error) && error.response);
  assert.equal(error.response.status, status);
  assert.equal(error.response.data.error.code, code);
  return error.response;
}

async function newKey(admin: Client, body: Omit<api.ApiKeyInput, 'name'>): Promise<Client> {
  const made = await admin.createApiKey({ ...body, name: `${body.role}-${RUN}` });
  return clientOf(made.data.data.key);
}

async function incidents(client: Client): Promise<api.Incident> {
  const body: api.IncidentInput = {
    incident_type: 'phishing',
    source: RUN,
    severity: 'high',
    raw_data: { message_id: '<1@mail.example.net>', sender: 'ceo@example.net' },
  };
  const once = { headers: { 'Idempotency-Key': `report-${RUN}` } };
  const { data: first } = (await client.createIncident(body, once)).data;
  const { data: again } = (await client.createIncident(body, once)).data;
  assert.equal(again.id, first.id);
  const { data: second } = (await client.createIncident(body)).data;
  ok('create');

  const query: api.ListIncidentsParams = {
    status: ['open', 'triaged'],
    severity: ['high', 'critical'],
    source: RUN,
    sort: ['-created_at'],
    per_page: 1,
  };
  const { data: newest, meta } = (await client.listIncidents(query)).data;
  assert.deepEqual([newest[0]?.id, newest.length, meta.total], [second.id, 1, 2]);
  ok('list');

  const next = { ...query, page: meta.page + 1 };
  const { data: oldest } = (await client.listIncidents(next)).data;
  assert.equal(oldest[0]?.id, first.id);
  ok('next page');

  return update(client, first.id);
}

async function update(client: Client, id: string): Promise<api.Incident> {
  const read = await client.getIncident(id);
  const unchanged = { headers: { 'If-Match': String(read.headers['etag']) } };
  const raised = await client.updateIncident(id, { severity: 'critical' }, unchanged);
  assert.equal(raised.data.data.severity, 'critical');
  ok('update');

  const stale = client.updateIncident(id, { severity: 'low' }, unchanged);
  await refusalOf(stale, 412, 'precondition_failed');
  const { data: incident } = (await client.getIncident(id)).data;
  assert.equal(incident.severity, 'critical');
  ok('stale');
  return incident;
}

async function actions(client: Client, senior: Client, { id }: api.Incident): Promise<void> {
  const executed = await client.executeIncidentAction(id, {
    action: 'isolate_host',
    parameters: { host_id: 'WS-0142', reason: 'It talks to a known address.' },
  });
  assert.equal(executed.status, 202);
  const { data: waiting } = executed.data;
  assert.deepEqual([waiting.status, waiting.approval_level], ['pending_approval', 'senior']);
  ok('execute');

  const action = waiting.action_id;
  const body = { comment: 'Confirmed with the owner of the host.' };
  const low = client.approveAction(action, body);
  const { data } = await refusalOf(low, 403, 'insufficient_approval_level');
  assert.equal(data.error.your_level, 'analyst');
  const { data: approved } = (await senior.approveAction(action, body)).data;
  assert.deepEqual([approved.status, approved.result?.simulated], ['completed', true]);
  ok('approve');

  const reason = { reason: 'It was a false alarm.' };
  const { data: back } = (await senior.rollBackAction(action, reason)).data;
  assert.equal(back.status, 'completed');
  assert.notEqual(back.rollback_action_id, action);
  ok('roll back');

  await refusalOf(senior.rollBackAction(action, reason), 409, 'invalid_state');
  ok('conflict');
}

async function triage(client: Client, { id }: api.Incident): Promise<void> {
  const { data: judged } = (await client.triageIncident(id)).data;
  assert.equal(judged.status, 'completed');
  assert.ok(judged.verdict?.classification);
  assert.ok(judged.verdict.confidence >= 0 && judged.verdict.confidence <= 1);
  ok('triage');

  const { headers } = await refusalOf(client.triageIncident(id), 429, 'rate_limited');
  assert.ok(headers['retry-after']);
  ok('limited');
}

async function playbook(client: Client, senior: Client, incident: api.Incident): Promise<void> {
  const made = await senior.createPlaybook({
    name: `playbook-${RUN}`,
    steps: [
      {
        name: 'ticket',
        action: 'create_ticket',
        parameters: { title: '{{ incident.incident_number }}' },
      },
    ],
  });
  const { id } = made.data.data;
  const { data: begun } = (await client.runPlaybook(id, { incident_id: incident.id })).data;
  assert.ok(begun.kind === 'run');
  ok('run');

  let { data: run } = (await client.getPlaybookRun(id, begun.run_id)).data;
  while (run.status === 'running') {
    await sleep(100);
    ({ data: run } = (await client.getPlaybookRun(id, begun.run_id)).data);
  }
  assert.deepEqual([run.status, run.steps[0]?.status], ['completed', 'completed']);
  assert.ok(run.steps[0]?.result);
  ok('read the run');

  const edited = await senior.updatePlaybook(id, { description: 'Opens a ticket.' });
  const { description, steps } = edited.data.data;
  assert.deepEqual([description, steps.length], ['Opens a ticket.', 1]);
  ok('edit');
}

async function receipt(admin: Client, analyst: Client): Promise<void> {
  await admin.createWebhookSource({ source: RUN, secret: SECRET });
  const event = { event_type: 'malware', data: { alert_id: 'alert-4711', severity: 'high' } };
  const headers = signed(JSON.stringify(event), SECRET);
  const { data: accepted } = await clientOf().receiveWebhook(RUN, event, { headers });
  assert.ok(accepted.status === 'accepted');
  const { data: incident } = (await analyst.getIncident(accepted.incident_id)).data;
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
  const invalid = await refusalOf(analyst.createIncident(body), 422, 'validation_error');
  assert.equal(invalid.data.error.details?.errors?.[0]?.field, 'raw_data.received_at');
  ok('invalid');
}

void main();
