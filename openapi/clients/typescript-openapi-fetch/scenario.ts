import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/api';
import { dataOf, given, ok, signed } from './support';

/** The scenario of openapi/clients/scenario.json, by openapi-fetch with the types of openapi-typescript. */
const RUN = given('RUN');
const SECRET = 'v7Zq-1mC4tXs9bLw2RkE8yHd';

type Schemas = components['schemas'];
type Client = ReturnType<typeof nobody>;

const nobody = () => createClient<paths>({ baseUrl: given('SERVICE_URL') });

function clientOf(key: string): Client {
  const client = nobody();
  client.use({
    onRequest({ request }) {
      request.headers.set('Authorization', `Bearer ${key}`);
    },
  });
  return client;
}

async function newKey(
  admin: Client,
  role: Schemas['Role'],
  limits?: Schemas['ApiKeyLimits'],
): Promise<Client> {
  const body = { name: `${role}-${RUN}`, role, limits };
  return clientOf(dataOf(await admin.POST('/api/api-keys', { body })).data.key);
}

async function incidents(analyst: Client): Promise<Schemas['Incident']> {
  const report = {
    body: {
      incident_type: 'phishing',
      source: RUN,
      severity: 'high' as const,
      raw_data: { message_id: '<1@mail.example.net>', sender: 'ceo@example.net' },
    },
    params: { header: { 'Idempotency-Key': `report-${RUN}` } },
  };
  const { data: first } = dataOf(await analyst.POST('/api/incidents', report));
  const { data: again } = dataOf(await analyst.POST('/api/incidents', report));
  assert.equal(again.id, first.id);
  const { body } = report;
  const { data: second } = dataOf(await analyst.POST('/api/incidents', { body }));
  ok('create');

  const query: paths['/api/incidents']['get']['parameters']['query'] = {
    status: ['open', 'triaged'],
    severity: ['high', 'critical'],
    source: RUN,
    sort: ['-created_at'],
    per_page: 1,
  };
  const newest = dataOf(await analyst.GET('/api/incidents', { params: { query } }));
  assert.deepEqual([newest.data[0]?.id, newest.meta.total], [second.id, 2]);
  ok('list');

  const next = { ...query, page: newest.meta.page + 1 };
  const oldest = dataOf(await analyst.GET('/api/incidents', { params: { query: next } }));
  assert.deepEqual([oldest.data[0]?.id, oldest.data.length], [first.id, 1]);
  ok('next page');

  return update(analyst, { id: first.id });
}

async function update(analyst: Client, path: { id: string }): Promise<Schemas['Incident']> {
  const { response } = await analyst.GET('/api/incidents/{id}', { params: { path } });
  const params = { path, header: { 'If-Match': response.headers.get('etag') ?? '' } };
  const raised = await analyst.PUT('/api/incidents/{id}', {
    params,
    body: { severity: 'critical' },
  });
  assert.equal(dataOf(raised).data.severity, 'critical');
  ok('update');

  const stale = await analyst.PUT('/api/incidents/{id}', { params, body: { severity: 'low' } });
  assert.equal(stale.response.status, 412);
  assert.equal(stale.error?.error.code, 'precondition_failed');
  const read = await analyst.GET('/api/incidents/{id}', { params: { path } });
  assert.equal(dataOf(read).data.severity, 'critical');
  ok('stale');
  return dataOf(read).data;
}

async function actions(
  analyst: Client,
  senior: Client,
  { id }: Schemas['Incident'],
): Promise<void> {
  const executed = await analyst.POST('/api/incidents/{id}/actions', {
    params: { path: { id } },
    body: {
      action: 'isolate_host',
      parameters: { host_id: 'WS-0142', reason: 'It talks to a known address.' },
    },
  });
  assert.equal(executed.response.status, 202);
  const { data: waiting } = dataOf(executed);
  assert.deepEqual([waiting.status, waiting.approval_level], ['pending_approval', 'senior']);
  ok('execute');

  const params = { path: { id: waiting.action_id } };
  const body = { comment: 'Confirmed with the owner of the host.' };
  const low = await analyst.POST('/api/actions/{id}/approve', { params, body });
  assert.equal(low.response.status, 403);
  assert.equal(low.error?.error.code, 'insufficient_approval_level');
  assert.equal(low.error.error.your_level, 'analyst');
  const approved = await senior.POST('/api/actions/{id}/approve', { params, body });
  assert.equal(dataOf(approved).data.status, 'completed');
  assert.equal(dataOf(approved).data.result?.simulated, true);
  ok('approve');

  const reason = { params, body: { reason: 'It was a false alarm.' } };
  const { data: back } = dataOf(await senior.POST('/api/actions/{id}/rollback', reason));
  assert.equal(back.status, 'completed');
  assert.notEqual(back.rollback_action_id, waiting.action_id);
  ok('roll back');

  const twice = await senior.POST('/api/actions/{id}/rollback', reason);
  assert.equal(twice.response.status, 409);
  assert.equal(twice.error?.error.code, 'invalid_state');
  ok('conflict');
}

async function triage(analyst: Client, { id }: Schemas['Incident']): Promise<void> {
  const params = { path: { id } };
  const { data: judged } = dataOf(await analyst.POST('/api/incidents/{id}/triage', { params }));
  assert.equal(judged.status, 'completed');
  assert.ok(judged.verdict?.classification);
  assert.ok(judged.verdict.confidence >= 0 && judged.verdict.confidence <= 1);
  ok('triage');

  const limited = await analyst.POST('/api/incidents/{id}/triage', { params });
  assert.equal(limited.response.status, 429);
  assert.equal(limited.error?.error.code, 'rate_limited');
  assert.ok(limited.response.headers.get('retry-after'));
  ok('limited');
}

async function playbook(
  analyst: Client,
  senior: Client,
  incident: Schemas['Incident'],
): Promise<void> {
  const made = await senior.POST('/api/playbooks', {
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
  const begun = await analyst.POST('/api/playbooks/{id}/run', {
    params: { path: { id } },
    body: { incident_id: incident.id },
  });
  const started = dataOf(begun).data;
  assert.ok(started.kind === 'run');
  ok('run');

  const params = { path: { id, run_id: started.run_id } };
  const read = async () =>
    dataOf(await analyst.GET('/api/playbooks/{id}/runs/{run_id}', { params })).data;
  let run = await read();
  while (run.status === 'running') {
    await sleep(100);
    run = await read();
  }
  assert.deepEqual([run.status, run.steps[0]?.status], ['completed', 'completed']);
  assert.ok(run.steps[0]?.result);
  ok('read the run');

  const edited = await senior.PUT('/api/playbooks/{id}', {
    params: { path: { id } },
    body: { description: 'Opens a ticket.' },
  });
  const { description, steps } = dataOf(edited).data;
  assert.deepEqual([description, steps.length], ['Opens a ticket.', 1]);
  ok('edit');
}

async function receipt(admin: Client, analyst: Client): Promise<void> {
  dataOf(await admin.POST('/api/webhooks', { body: { source: RUN, secret: SECRET } }));
  const event = { event_type: 'malware', data: { alert_id: 'alert-4711', severity: 'high' } };
  const received = await nobody().POST('/api/webhooks/{source}', {
    params: { path: { source: RUN }, header: signed(JSON.stringify(event), SECRET) },
    body: event,
  });
  const accepted = dataOf(received);
  assert.ok(accepted.status === 'accepted');
  const params = { path: { id: accepted.incident_id } };
  const { data: incident } = dataOf(await analyst.GET('/api/incidents/{id}', { params }));
  assert.equal(incident.incident_number, accepted.incident_number);
  ok('receipt');
}

async function main(): Promise<void> {
  const admin = clientOf(given('ADMIN_KEY'));
  const analyst = await newKey(admin, 'analyst', { triage: 1 });
  const senior = await newKey(admin, 'senior');
  ok('key');
  const incident = await incidents(analyst);
  await actions(analyst, senior, incident);
  await triage(analyst, incident);
  await playbook(analyst, senior, incident);
  await receipt(admin, analyst);

  const body = { incident_type: 'phishing', source: RUN, raw_data: { received_at: 'yesterday' } };
  const invalid = await analyst.POST('/api/incidents', { body });
  assert.equal(invalid.response.status, 422);
  assert.equal(invalid.error?.error.code, 'validation_error');
  assert.equal(invalid.error.error.details?.errors?.[0]?.field, 'raw_data.received_at');
  ok('invalid');
}

void main();
