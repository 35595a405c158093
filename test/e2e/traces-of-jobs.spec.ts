import { TOKENS, verdict } from '../support/fake-messages-answers.js';
import { FakeMessagesApi } from '../support/fake-messages-api.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { as } from '../support/principals.js';
import type { SeenSpan } from '../support/traces/otlp-collector.js';
import { startTracedApp } from '../support/traces/traced-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const SECRET_PATH = 'path-that-is-a-secret';

describe('traces of background work', () => {
  const model = useStarted(() => FakeMessagesApi.start());
  const traced = useStarted(() =>
    startTracedApp({
      ANTHROPIC_API_KEY: model.key,
      ANTHROPIC_BASE_URL: model.url,
      // Every signed request is queued.
      WEBHOOK_SYNC_LIMIT: '0',
    }),
  );
  const receiver = useStarted(() => FakeVendor.start());
  const admin = useStarted(() => as(traced.app, 'admin'));

  beforeAll(async () => {
    await registerSource(admin);
    // With a latency, an action of the sandbox runs like an action of a vendor. Without a latency, it would end when it
    // is created.
    const sandbox = { name: 'sandbox', type: 'sandbox', config: { latency_ms: 1 } };
    await admin.post('/api/connectors', sandbox);
  });

  async function incident(): Promise<string> {
    const body = { incident_type: 'phishing', source: 'traces', severity: 'high' };
    return (await admin.post('/api/incidents', body)).body.data.id as string;
  }

  const spanBelow = (parent: SeenSpan, name: RegExp): Promise<SeenSpan> =>
    traced.collector.spanWith((span) => span.parentId === parent.id && name.test(span.name));

  it('show the triage of a request with model and tokens, and send the model no trace id', async () => {
    const id = await incident();
    model.script(verdict());
    const headers = { traceparent: TRACEPARENT };
    expect((await admin.post(`/api/incidents/${id}/triage`, undefined, headers)).status).toBe(200);
    const job = await traced.collector.spanWith(
      ({ name, traceId }) => name === 'job triage' && traceId === TRACE,
    );
    const run = await spanBelow(job, /^triage run$/);
    expect(run.attributes).toMatchObject({ 'incident.id': id });
    const chat = await spanBelow(run, /^chat /);
    expect(chat.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'claude-sonnet-5-5',
      'gen_ai.response.model': 'claude-sonnet-5-5-20261101',
      'gen_ai.usage.input_tokens': TOKENS.input,
      'gen_ai.usage.output_tokens': TOKENS.output,
    });
    await spanBelow(chat, /^POST 127\.0\.0\.1$/);
    expect(model.requests[0]!.headers).not.toHaveProperty('traceparent');
  });

  it('link the job of a webhook event to its request', async () => {
    const event = {
      event_type: 'malware',
      timestamp: '2026-01-31T09:30:00Z',
      source: 'siem-a',
      data: { alert_id: 'alert-1', severity: 'high' },
    };
    expect((await new WebhookSender(traced.app.client).send(event)).status).toBe(202);
    const job = await traced.collector.spanWith(({ name }) => name === 'job webhook-events');
    expect(job).toMatchObject({ kind: 'consumer', parentId: '', isError: false });
    await spanBelow(job, /./);
    const [link] = job.links;
    const request = await traced.collector.spanWith(
      (span) => span.traceId === link!.traceId && span.kind === 'server',
    );
    expect(request.name).toBe('POST /api/webhooks/:source');
  });

  it('show the work and the actions of a playbook run in the trace of its request', async () => {
    const playbook = {
      name: 'traced',
      steps: [{ name: 'look', action: 'lookup_ip', parameters: { ip: '203.0.113.9' } }],
    };
    const made = await admin.post('/api/playbooks', playbook);
    expect(made.status).toBe(201);
    const path = `/api/playbooks/${made.body.data.id}/run`;
    expect((await admin.post(path, { incident_id: await incident() })).status).toBeLessThan(300);
    const job = await traced.collector.spanWith(({ name }) => name === 'job playbook-run');
    const request = await traced.collector.spanWith(
      (span) => span.traceId === job.traceId && span.kind === 'server',
    );
    expect(request.name).toBe('POST /api/playbooks/:id/run');
    await traced.collector.spanWith(({ name }) => name === 'action lookup_ip');
  });

  it('show a notification without its secret URL, and send its receiver no trace id', async () => {
    const made = await admin.post('/api/notification-channels', {
      name: 'traced',
      type: 'webhook',
      config: { url: `${receiver.url}/${SECRET_PATH}` },
      events: ['incident.created'],
    });
    expect(made.status).toBe(201);
    const id = await incident();
    const delivery = await traced.collector.spanWith(
      ({ name, attributes }) => name === 'notification webhook' && attributes['incident.id'] === id,
    );
    expect(delivery.attributes).toMatchObject({ 'delivery.outcome': 'delivered' });
    const job = await traced.collector.spanWith((span) => span.id === delivery.parentId);
    expect(job).toMatchObject({ name: 'job notification', parentId: '' });
    await spanBelow(delivery, /^POST 127\.0\.0\.1$/);
    expect(receiver.requests[0]!.path).toBe(`/${SECRET_PATH}`);
    expect(receiver.requests[0]!.headers).not.toHaveProperty('traceparent');
    expect(traced.collector.raw).not.toContain(SECRET_PATH);
    expect(traced.collector.raw).not.toContain(model.key);
  });
});
