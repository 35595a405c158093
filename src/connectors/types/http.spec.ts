import fc from 'fast-check';
import { createServer, type AddressInfo } from 'node:net';
import { BEHAVIOURS, FakeVendor } from '../../../test/support/fake-vendor.js';
import { callOf, connectTo, CountingGate } from '../../../test/support/vendors/vendor-site.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { OutboundHttp } from '../../platform/net/outbound-http.js';
import { Resolver, Targets } from '../../platform/net/targets.js';
import type { Settings } from '../../platform/config/settings.js';
import type { Outcome } from '../connector-type.js';
import { http, type HttpAction } from './http.js';

const outbound = new OutboundHttp(
  new Targets(new Resolver(), { allowedPrivateTargets: ['127.0.0.0/8'] } as unknown as Settings),
);

/** Client with a short timeout, because some of these vendors never answer. */
const hasty = {
  request: (request) => outbound.request({ ...request, timeoutMs: 300, maxAnswerBytes: 100_000 }),
} as OutboundHttp;

const CALL = callOf('block_ip', {});
const KEY = CALL.actionId;

describe('HttpConnector', () => {
  let vendor: FakeVendor;
  let gate: CountingGate;
  const waits: number[] = [];

  const connect = (action: Partial<HttpAction>, url = vendor.url) =>
    connectTo(
      http,
      {
        base_url: url,
        headers: { authorization: 'Bearer very-secret-token' },
        actions: { block_ip: { path: '/block', ...action } },
      },
      { http: hasty },
      async (ms) => void waits.push(ms),
    );
  const execute = (action: Partial<HttpAction>, url?: string): Promise<Outcome> =>
    connect(action, url).execute(CALL, gate);

  beforeAll(async () => {
    vendor = await FakeVendor.start();
  });

  beforeEach(() => {
    vendor.forget();
    gate = new CountingGate();
    waits.length = 0;
  });

  afterAll(() => vendor.stop());

  it.each(BEHAVIOURS)(
    'sends a request that is not idempotent only once if the vendor does this: %s',
    async (one) => {
      vendor.behave(one);
      const outcome = await execute({}).catch((error: unknown) => error);
      expect(vendor.effectsOf(KEY)).toBeLessThanOrEqual(1);
      expect(gate.left).toBe(1);
      // If the call had an effect, the outcome may be done or unknown, but never refused or not sent.
      if (vendor.effectsOf(KEY) === 1 && !(outcome instanceof OutcomeUnknownError)) {
        expect(outcome).toMatchObject({ kind: 'done' });
      }
    },
  );

  it.each(['apply-then-drop', 'apply-then-500', 'hang', 'truncated'] as const)(
    'reports an unknown outcome if the vendor does this: %s',
    async (behaviour) => {
      vendor.behave(behaviour);
      await expect(execute({})).rejects.toThrow(OutcomeUnknownError);
    },
  );

  it('repeats an idempotent request, with a permit check for each attempt', async () => {
    vendor.behave('apply-then-drop', 'unavailable', 'apply');
    expect(await execute({ idempotent: true })).toMatchObject({ kind: 'done' });
    expect(gate.left).toBe(3);
    // The vendor asks to wait 1 s.
    expect(waits[1]).toBe(1_000);
  });

  it('reports an unknown outcome after three attempts', async () => {
    vendor.behave('apply-then-drop');
    await expect(execute({ idempotent: true })).rejects.toThrow(OutcomeUnknownError);
    expect(gate.left).toBe(3);
  });

  it('does not retry if the vendor asks for a long pause', async () => {
    vendor.retryAfter = '3600';
    vendor.behave('rate-limit');
    expect(await execute({ idempotent: true })).toMatchObject({ kind: 'refused' });
    expect(gate.left).toBe(1);
    vendor.retryAfter = '1';
  });

  it('stops its retries if the permit check refuses', async () => {
    vendor.behave('apply-then-drop');
    gate.refuseFrom = 2;
    await expect(execute({ idempotent: true })).rejects.toThrow('the switch is on');
    expect(vendor.requests).toHaveLength(1);
  });

  it('retries any request that was not sent, and finally reports that nothing was sent', async () => {
    const gone = await FakeVendor.start();
    await gone.stop().catch(() => undefined);
    await expect(execute({}, 'http://127.0.0.1:9')).rejects.toThrow(UnreachableError);
    expect(waits).toHaveLength(2);
    expect(gate.left).toBe(0);
  });

  it('sends no further request after repeated failures of the vendor', async () => {
    const connector = connect({ idempotent: true }, 'http://127.0.0.1:9');
    for (let turn = 0; turn < 2; turn += 1) await connector.execute(CALL, gate).catch(() => 0);
    await expect(connector.execute(CALL, gate)).rejects.toThrow(
      /No further call is made .* The last failure: .*ECONNREFUSED/,
    );
  });

  it('treats a redirect as a refusal, and does not follow it', async () => {
    vendor.location = `${vendor.url}/elsewhere`;
    vendor.behave('redirect');
    expect(await execute({})).toMatchObject({ kind: 'refused' });
    expect(vendor.requests).toHaveLength(1);
  });

  it('accepts the configured success statuses', async () => {
    vendor.behave('refuse');
    expect(await execute({ success_statuses: [422] })).toMatchObject({ kind: 'done' });
    expect(await execute({})).toMatchObject({
      kind: 'refused',
      message: 'The service answered with status 422: {"error":"no such host"}.',
    });
  });

  it('shows the message of the vendor without the secret', async () => {
    const said = '{"error":"The Bearer token very-secret-token expired"}';
    const server = createServer((socket) => {
      socket.once('data', () =>
        socket.end(`HTTP/1.1 401 No\r\ncontent-type: application/json\r\n\r\n${said}`),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await execute({}, `http://127.0.0.1:${port}`)).toEqual({
      kind: 'refused',
      message:
        'The service answered with status 401: {"error":"The Bearer token [secret] expired"}.',
    });
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    ['authorization', 'Bearer abc', 'abc'],
    ['cookie', 'sid=xyz; theme=dark', 'xyz'],
    ['authorization', `Basic ${Buffer.from('jo:pw').toString('base64')}`, 'pw'],
    ['x-api-key', '9', '9'],
  ])('masks a short secret in the header %s: %s', async (name, value, secret) => {
    const connector = connectTo(
      http,
      {
        base_url: vendor.url,
        headers: { [name]: value, 'x-version': '2' },
        actions: { block_ip: { path: '/' } },
      },
      { http: hasty },
    );
    vendor.reply = () => ({ status: 400, type: 'text/plain', body: `2 times no: ${secret}.` });
    expect(await connector.execute(CALL, gate)).toMatchObject({
      message: 'The service answered with status 400: 2 times no: [secret].',
    });
  });

  it('reports in a connection test whether the vendor answers', async () => {
    expect(await connect({}).test()).toMatchObject({ success: true });
    vendor.behave('error-500', 'hang');
    expect(await connect({}).test()).toMatchObject({ success: false });
    expect(await connect({}).test()).toMatchObject({ success: false });
  });

  it('fails a connection test if the vendor answers with a redirect', async () => {
    vendor.location = `${vendor.url}/elsewhere`;
    vendor.behave('redirect');
    expect(await connect({}).test()).toMatchObject({
      success: false,
      message: expect.stringContaining('Redirects are not followed'),
    });
  });

  it('shows no secret and only storable text for any response of the vendor', async () => {
    let answer = '';
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.from(answer, 'latin1')));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    server.unref();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const body = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.constant('{"echo":"Bearer very-secret-token","\\u0000":"\\ud800"}'),
    );
    const status = fc.constantFrom(
      '200 OK',
      '204 No',
      '302 Go',
      '404 No',
      '500 No',
      '999 Odd',
      '-1 x',
    );
    const header = fc.constantFrom('application/json', 'text/plain', 'text/html', '\x01', 'a; b=');
    await fc.assert(
      fc.asyncProperty(body, status, header, async (text, line, type) => {
        answer = `HTTP/1.1 ${line}\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${text}`;
        const outcome = await execute({}, url).catch((error: unknown) => error);
        const { message } = outcome as { message: unknown };
        const shown = JSON.stringify([outcome, message]);
        // Finds an escaped NUL in JSON, but not an escaped backslash before `u0000`.
        const storable = !/(?<!\\)\\u0000/.test(shown);
        return typeof message === 'string' && storable && !shown.includes('very-secret-token');
      }),
      { numRuns: 150 },
    );
    await new Promise((resolve) => server.close(resolve));
  });
});
