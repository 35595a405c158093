import type { ApiClient } from '../support/api-client.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey } from '../support/principals.js';
import type { SeenSpan } from '../support/traces/otlp-collector.js';
import { startTracedApp } from '../support/traces/traced-app.js';
import { useStarted } from '../support/use-started.js';

const PARENT = '00f067aa0ba902b7';
const SECRET = 'value-that-no-trace-holds';

let traces = 0;

/** Returns headers of a caller that also traces. */
function callersTrace(): { traceId: string; headers: { traceparent: string } } {
  traces += 1;
  const traceId = `4bf92f3577b34da6a3ce929d${String(traces).padStart(8, '0')}`;
  return { traceId, headers: { traceparent: `00-${traceId}-${PARENT}-01` } };
}

describe('traces', () => {
  const traced = useStarted(() => startTracedApp({ DATABASE_POOL_SIZE: '2' }));
  const vendor = useStarted(() => FakeVendor.start());
  let admin: ApiClient;
  let key: string;

  beforeAll(async () => {
    ({ client: admin, key } = await makeKey(traced.app, 'admin'));
    const config = {
      base_url: vendor.url,
      headers: { authorization: 'Bearer {{ secrets.token }}' },
      secrets: { token: SECRET },
      actions: {
        lookup_ip: { path: `/${SECRET}?q=${SECRET}`, body: { ip: '{{ parameters.ip }}' } },
      },
    };
    const body = { name: 'lookups', type: 'http', config };
    expect((await admin.post('/api/connectors', body)).status).toBe(201);
  });
  afterEach(() => vendor.forget());

  const requestOf = (traceId: string): Promise<SeenSpan> =>
    traced.collector.spanWith((span) => span.traceId === traceId && span.kind === 'server');

  async function lookUp(headers: Record<string, string>): Promise<void> {
    const body = { action: 'lookup_ip', parameters: { ip: '203.0.113.77' } };
    expect((await admin.post('/api/actions/execute', body, headers)).status).toBe(200);
  }

  it('show a request with its statements, its action and the vendor call in the trace of its caller', async () => {
    const { traceId, headers } = callersTrace();
    await lookUp(headers);
    const request = await requestOf(traceId);
    expect(request).toMatchObject({
      parentId: PARENT,
      name: 'POST /api/actions/execute',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/actions/execute',
        'http.response.status_code': 200,
      },
    });
    const spans = traced.collector.traceOf(traceId);
    const above = (span: SeenSpan) => spans.find(({ id }) => id === span.parentId);
    expect(spans.filter((span) => !above(span))).toEqual([request]);
    const action = spans.find(({ name }) => name === 'action lookup_ip')!;
    expect(action.attributes['action.status']).toBe('completed');
    const call = spans.find(({ attributes }) => 'server.address' in attributes)!;
    expect(above(call)).toBe(action);
    expect(call).toMatchObject({
      kind: 'client',
      name: 'POST 127.0.0.1',
      attributes: {
        'server.address': '127.0.0.1',
        'server.port': vendor.port,
        'http.response.status_code': 200,
      },
    });
    const statements = spans.filter(({ attributes }) => 'db.query.text' in attributes);
    expect(statements.length).toBeGreaterThan(3);
    const texts = statements.map(({ attributes }) => String(attributes['db.query.text']));
    expect(texts.some((text) => /\$1/.test(text))).toBe(true);
    expect(texts).toContain('COMMIT');
    // Another request may be that of a health check, which has its own trace.
    const handedOn = vendor.requests.map(({ headers: { traceparent } }) => traceparent);
    expect(handedOn).toContain(`00-${traceId}-${call.id}-01`);
  });

  it('contain no body, no query string, no secret and no value of a statement', async () => {
    const { traceId, headers } = callersTrace();
    const body = {
      incident_type: 'phishing',
      source: 'traces',
      title: SECRET,
      raw_data: { password: SECRET },
    };
    expect((await admin.post('/api/incidents', body, headers)).status).toBe(201);
    await requestOf(traceId);
    const read = callersTrace();
    await admin.request('GET', `/api/incidents?search=${SECRET}`, read);
    await requestOf(read.traceId);
    expect(traced.collector.traceOf(read.traceId).length).toBeGreaterThan(1);
    expect(traced.collector.raw).toContain('/api/incidents');
    expect(traced.collector.raw).not.toContain(SECRET);
    expect(traced.collector.raw).not.toContain('203.0.113.77');
    expect(traced.collector.raw).not.toMatch(/its_[A-Za-z0-9]{8}_/);
  });

  it('report an error by its code, and mark only server errors as failed', async () => {
    const refused = callersTrace();
    await admin.request('GET', `/api/incidents/${SECRET}`, refused);
    expect(await requestOf(refused.traceId)).toMatchObject({
      name: 'GET /api/incidents/:id',
      isError: false,
      attributes: { 'http.response.status_code': 404, 'error.type': 'not_found' },
    });
    const failed = callersTrace();
    vendor.behave('error-500');
    await lookUp(failed.headers);
    await requestOf(failed.traceId);
    const action = traced.collector
      .traceOf(failed.traceId)
      .find(({ name }) => name === 'action lookup_ip');
    expect(action!.attributes['action.status']).toBe('failed');
  });

  it('show a request whose caller disconnected', async () => {
    const { traceId, headers } = callersTrace();
    vendor.behave('hang');
    const giveUp = new AbortController();
    const answer = fetch(`${traced.app.url}/api/actions/execute`, {
      method: 'POST',
      body: JSON.stringify({ action: 'lookup_ip', parameters: { ip: '203.0.113.78' } }),
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${key}` },
      signal: giveUp.signal,
    });
    await eventually(
      () => vendor.requests.filter((request) => request.body.includes('203.0.113.78')),
      ({ length }) => length > 0,
    );
    giveUp.abort();
    await expect(answer).rejects.toThrow();
    const span = await requestOf(traceId);
    expect(span).toMatchObject({ isError: true, attributes: { 'error.type': 'client_gone' } });
    expect(span.attributes).not.toHaveProperty('http.response.status_code');
  });

  it('separate the statements of requests that wait for the same two connections', async () => {
    /** A lookup of a caller may serve several requests, so only statements about incidents are compared. */
    const statementsOf = (traceId: string) =>
      traced.collector
        .traceOf(traceId)
        .map(({ attributes }) => String(attributes['db.query.text'] ?? ''))
        .filter((text) => /from incidents/i.test(text))
        .sort();
    const one = callersTrace();
    await admin.request('GET', '/api/incidents', one);
    await requestOf(one.traceId);
    const expected = statementsOf(one.traceId);
    expect(expected.length).toBeGreaterThan(0);
    const many = Array.from({ length: 24 }, callersTrace);
    await Promise.all(many.map((each) => admin.request('GET', '/api/incidents', each)));
    for (const { traceId } of many) {
      await requestOf(traceId);
      expect(statementsOf(traceId)).toEqual(expected);
    }
  });

  it('contain no polling of background loops', async () => {
    const idle = traced.collector.spans.length;
    // When the event of this incident is processed, relays, queues and sealers have run.
    const before = new Set(traced.collector.spans);
    await admin.post('/api/incidents', { incident_type: 'phishing', source: 'traces' });
    await traced.collector.spanWith((span) => !before.has(span) && span.kind === 'consumer');
    const roots = traced.collector.spans.slice(idle).filter(({ parentId }) => parentId === '');
    expect(roots.filter(({ kind }) => kind !== 'consumer' && kind !== 'server')).toEqual([]);
  });

  it('contain the name of the service and of the replica', () => {
    expect(traced.collector.resources[0]).toMatchObject({
      'service.name': 'incident-triage-service',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
      'service.instance.id': expect.any(String),
    });
  });
});
