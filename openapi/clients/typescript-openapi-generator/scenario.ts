import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as api from './generated';
import { given, ok, signed } from './support';

/** The scenario of openapi/clients/scenario.json, by the client that typescript-fetch of openapi-generator makes. */
const RUN = given('RUN');
const SECRET = 'v7Zq-1mC4tXs9bLw2RkE8yHd';

function clientOf(accessToken?: string) {
  const configuration = new api.Configuration({ basePath: given('SERVICE_URL'), accessToken });
  return {
    access: new api.AccessApi(configuration),
    actions: new api.ActionsApi(configuration),
    approvals: new api.ApprovalsApi(configuration),
    incidents: new api.IncidentsApi(configuration),
    playbooks: new api.PlaybooksApi(configuration),
    triage: new api.TriageApi(configuration),
    webhooks: new api.WebhooksApi(configuration),
  };
}

type Client = ReturnType<typeof clientOf>;

/** The error that a call is answered with. */
async function refusalOf(call: Promise<unknown>, status: number, code: string) {
  const error = await call.then(
    () => assert.fail(`There should be a ${status}.`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof api.ResponseError);
  assert.equal(error.response.status, status);
  const { error: refusal } = api.ErrorEnvelopeFromJSON(await error.response.json());
  assert.equal(refusal.code, code);
  return { ...refusal, headers: error.response.headers };
}

async function newKey(admin: Client, role: api.Role, limits?: api.ApiKeyLimits): Promise<Client> {
  const apiKeyInput = { name: `${role}-${RUN}`, role, limits };
  return clientOf((await admin.access.createApiKey({ apiKeyInput })).data.key);
}

async function incidents({ incidents }: Client): Promise<api.Incident> {
  const incidentInput: api.IncidentInput = {
    incidentType: 'phishing',
    source: RUN,
    severity: 'high',
    rawData: { message_id: '<1@mail.example.net>', sender: 'ceo@example.net' },
  };
  const report = { incidentInput, idempotencyKey: `report-${RUN}` };
  const { data: first } = await incidents.createIncident(report);
  const { data: again } = await incidents.createIncident(report);
  assert.equal(again.id, first.id);
  const { data: second } = await incidents.createIncident({ incidentInput });
  ok('create');

  const filter: api.ListIncidentsRequest = {
    status: ['open', 'triaged'],
    severity: ['high', 'critical'],
    source: RUN,
    sort: new Set(['-created_at'] as const),
    perPage: 1,
  };
  const newest = await incidents.listIncidents(filter);
  assert.deepEqual([newest.data[0]?.id, newest.meta.total], [second.id, 2]);
  ok('list');

  const oldest = await incidents.listIncidents({ ...filter, page: newest.meta.page + 1 });
  assert.deepEqual([oldest.data[0]?.id, oldest.data.length], [first.id, 1]);
  ok('next page');

  const { raw } = await incidents.getIncidentRaw({ id: first.id });
  const stale = { id: first.id, ifMatch: raw.headers.get('etag') ?? '' };
  const raised = await incidents.updateIncident({
    ...stale,
    incidentUpdate: { severity: 'critical' },
  });
  assert.equal(raised.data.severity, 'critical');
  ok('update');

  const late = incidents.updateIncident({ ...stale, incidentUpdate: { severity: 'low' } });
  await refusalOf(late, 412, 'precondition_failed');
  const { data: incident } = await incidents.getIncident({ id: first.id });
  assert.equal(incident.severity, 'critical');
  ok('stale');
  return incident;
}

async function actions(analyst: Client, senior: Client, { id }: api.Incident): Promise<void> {
  const executed = await analyst.actions.executeIncidentActionRaw({
    id,
    actionRequest: {
      action: 'isolate_host',
      parameters: { hostId: 'WS-0142', reason: 'It talks to a known address.' },
    },
  });
  assert.equal(executed.raw.status, 202);
  const { data: waiting } = await executed.value();
  assert.deepEqual([waiting.status, waiting.approvalLevel], ['pending_approval', 'senior']);
  ok('execute');

  const approval = {
    id: waiting.actionId,
    actionApproval: { comment: 'Confirmed with the owner of the host.' },
  };
  const low = analyst.approvals.approveAction(approval);
  const refusal = await refusalOf(low, 403, 'insufficient_approval_level');
  assert.equal(refusal.yourLevel, 'analyst');
  const { data: approved } = await senior.approvals.approveAction(approval);
  assert.deepEqual([approved.status, approved.result?.simulated], ['completed', true]);
  ok('approve');

  const rollback = {
    id: waiting.actionId,
    actionRollback: { reason: 'It was a false alarm.' },
  };
  const { data: back } = await senior.actions.rollBackAction(rollback);
  assert.equal(back.status, 'completed');
  assert.notEqual(back.rollbackActionId, waiting.actionId);
  ok('roll back');

  await refusalOf(senior.actions.rollBackAction(rollback), 409, 'invalid_state');
  ok('conflict');
}

async function triage({ triage }: Client, { id }: api.Incident): Promise<void> {
  const { data: judged } = await triage.triageIncident({ id });
  assert.equal(judged.status, 'completed');
  assert.ok(judged.verdict?.classification);
  assert.ok(judged.verdict.confidence >= 0 && judged.verdict.confidence <= 1);
  ok('triage');

  const { headers } = await refusalOf(triage.triageIncident({ id }), 429, 'rate_limited');
  assert.ok(headers.get('retry-after'));
  ok('limited');
}

async function playbook(analyst: Client, senior: Client, incident: api.Incident): Promise<void> {
  const { data: made } = await senior.playbooks.createPlaybook({
    playbookInput: {
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
  const { data: begun } = await analyst.playbooks.runPlaybook({
    id: made.id,
    playbookRunRequest: { incidentId: incident.id },
  });
  assert.ok(begun.kind === 'run');
  ok('run');

  const read = () => analyst.playbooks.getPlaybookRun({ id: made.id, runId: begun.runId });
  let { data: run } = await read();
  while (run.status === 'running') {
    await sleep(100);
    ({ data: run } = await read());
  }
  assert.deepEqual([run.status, run.steps[0]?.status], ['completed', 'completed']);
  assert.ok(run.steps[0]?.result);
  ok('read the run');

  const { data: edited } = await senior.playbooks.updatePlaybook({
    id: made.id,
    playbookUpdate: { description: 'Opens a ticket.' },
  });
  assert.deepEqual([edited.description, edited.steps.length], ['Opens a ticket.', 1]);
  ok('edit');
}

async function receipt(admin: Client, analyst: Client): Promise<void> {
  await admin.webhooks.createWebhookSource({ webhookSourceInput: { source: RUN, secret: SECRET } });
  const body = { event_type: 'malware', data: { alert_id: 'alert-4711', severity: 'high' } };
  const headers = signed(JSON.stringify(body), SECRET);
  const accepted = await clientOf().webhooks.receiveWebhook({
    source: RUN,
    body,
    xWebhookTimestamp: headers['X-Webhook-Timestamp'],
    xWebhookSignature: headers['X-Webhook-Signature'],
  });
  assert.equal(accepted.status, 'accepted');
  const { data: incident } = await analyst.incidents.getIncident({ id: accepted.incidentId });
  assert.equal(incident.incidentNumber, accepted.incidentNumber);
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

  const rawData = { received_at: 'yesterday' };
  const incidentInput = { incidentType: 'phishing', source: RUN, rawData };
  const invalid = analyst.incidents.createIncident({ incidentInput });
  const { details } = await refusalOf(invalid, 422, 'validation_error');
  assert.equal(details?.errors?.[0]?.field, 'raw_data.received_at');
  ok('invalid');
}

void main();
