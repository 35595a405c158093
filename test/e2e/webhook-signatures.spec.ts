import { Controller, HttpCode, Module, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { createHmac, hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Allow } from '../../src/platform/access/access.js';
import { UnavailableError } from '../../src/platform/errors/app-error.js';
import { RawAnswer } from '../../src/platform/http/answer.js';
import { AnyQuery, Consumes } from '../../src/platform/http/handler-options.js';
import { readEventJson } from '../../src/webhooks/reading/event-json.js';
import { WebhookSourcesService } from '../../src/webhooks/sources/webhook-sources.service.js';
import { DEFAULT_SETTINGS } from '../../src/webhooks/sources/source-rules.js';
import type {
  ReceivingSource,
  SignatureScheme,
} from '../../src/webhooks/sources/webhook-source.entity.js';
import { eventually } from '../support/jobs/eventually.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

/** Route that only verifies the signature of a request. */
@Controller('api/webhooks-probe')
class WebhookProbeController {
  @Post(':source')
  @HttpCode(200)
  @Allow('signature')
  @Consumes('raw')
  @AnyQuery()
  @RawAnswer()
  receive(@Req() { verifiedReceipt }: FastifyRequest): unknown {
    const { source, body } = verifiedReceipt!;
    return {
      fields: Object.keys(source),
      source: source.source,
      sha256: hash('sha256', body),
      event: readEventJson(body),
    };
  }
}

@Module({ controllers: [WebhookProbeController] })
class WebhookProbeModule {}

const WEBHOOK_PROBE_PATHS = /^\/api\/webhooks-probe\//;

const LIMIT = 65_536;
const SECRET = 'a secret of sixteen or more';
const OLD_SECRET = 'the secret before this one';
const KEY = Buffer.alloc(24, 7);

type Headers = Record<string, string | string[]>;

const sourceOf = (
  source: string,
  signature: SignatureScheme,
  secret = SECRET,
): ReceivingSource => ({
  ...DEFAULT_SETTINGS,
  source,
  signature,
  enabled: source !== 'disabled',
  previous_secret_until: null,
  created_by: 'test',
  created_at: new Date(0),
  updated_at: new Date(0),
  secrets: [{ value: secret }, { value: OLD_SECRET, until: new Date(Date.now() + 3_600_000) }],
});
const SOURCES: Readonly<Record<string, ReceivingSource>> = {
  timestamped: sourceOf('timestamped', 'timestamped'),
  body: sourceOf('body', 'body'),
  standard: sourceOf('standard', 'standard', `whsec_${KEY.toString('base64')}`),
  token: sourceOf('token', 'token'),
  disabled: sourceOf('disabled', 'timestamped'),
};

const now = (): number => Math.floor(Date.now() / 1000);
const hmac = (key: string | Buffer, prefix: string, body: Buffer) =>
  createHmac('sha256', key).update(prefix).update(body).digest();
const hex = (body: Buffer): string => hmac(SECRET, '', body).toString('hex');
const signed = (body: Buffer, seconds = now(), secret = SECRET): Record<string, string> => ({
  'x-webhook-timestamp': String(seconds),
  'x-webhook-signature': `sha256=${hmac(secret, `${seconds}.`, body).toString('hex')}`,
});
const standard = (body: Buffer, seconds = now()): Headers => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(seconds),
  'webhook-signature': `v1,${hmac(KEY, `msg_1.${seconds}.`, body).toString('base64')}`,
});
const forged = (): Headers => ({
  'x-webhook-timestamp': String(now()),
  'x-webhook-signature': '0'.repeat(64),
});

describe('A webhook request', () => {
  const app = useStarted(() => start());
  let directory: jest.SpyInstance;
  /** Each test uses its own address, which has its own limit. */
  let address = '';
  let tests = 0;

  const find = (name: string) => Promise.resolve(SOURCES[name]);
  const start = (settings: Record<string, string> = {}) =>
    startTestApp({
      modules: [WebhookProbeModule],
      undocumented: WEBHOOK_PROBE_PATHS,
      settings: { TRUST_PROXY: '127.0.0.1/32', BODY_LIMIT_BYTES: String(LIMIT), ...settings },
    });
  beforeAll(async () => {
    directory = jest.spyOn(app.nest.get(WebhookSourcesService), 'find').mockImplementation(find);
  });
  beforeEach(() => {
    directory.mockClear().mockImplementation(find);
    tests += 1;
    address = `198.51.100.${tests}`;
  });

  const bytesOf = (body: unknown): Buffer =>
    Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const send = (source: string, body: unknown, headers: Headers, of = app) =>
    of.post(`/api/webhooks-probe/${source}`, bytesOf(body), {
      'x-forwarded-for': address,
      ...headers,
    });
  const codeOf = async (source: string, body: unknown, headers: Headers) => {
    const answer = await send(source, body, headers);
    return [answer.status, answer.body.error?.code ?? 'none'];
  };
  const failTooOften = async () => {
    for (let sent = 0; sent < 60; sent += 1) await send('timestamped', {}, forged());
  };
  const rows = (action: string) =>
    app.sql<{ actor: string; subject_id: string; details: object }[]>(
      'select actor, subject_id, details::jsonb as details from audit_log where action = $1 order by id',
      [action],
    );
  const errorsTotal = async (labels: string): Promise<number> => {
    const { text } = await app.get('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`webhook_errors_total{${labels}}`));
    return Number(line?.split(' ')[1] ?? 0);
  };

  describe('is accepted', () => {
    const body = Buffer.from('{"n":12345678901234567890,"a":"\\u0000"}\r\n');

    it.each<[string, SignatureScheme, () => Headers]>([
      ['a time', 'timestamped', () => signed(body)],
      ['the secret before this one', 'timestamped', () => signed(body, now(), OLD_SECRET)],
      ['the body', 'body', () => ({ 'x-hub-signature-256': `sha256=${hex(body)}` })],
      ['the headers of Standard Webhooks', 'standard', () => standard(body)],
      ['a bearer token', 'token', () => ({ authorization: `Bearer ${SECRET}` })],
    ])('if it is signed with %s, with its bytes unchanged', async (_, scheme, headers) => {
      const answer = await send(scheme, body, headers());
      expect([answer.status, answer.body.source]).toEqual([200, scheme]);
      expect(answer.body.sha256).toBe(hash('sha256', body));
      expect(answer.text).toContain('{"n":12345678901234567890,"a":"\\\\u0000"}');
      expect(answer.body.fields).not.toContain('secrets');
    });

    it.each(['application/x-www-form-urlencoded', 'nonsense'])(
      'with any media type: %j',
      async (type) => {
        const headers = { ...signed(body), 'content-type': type };
        expect((await send('timestamped', body, headers)).status).toBe(200);
      },
    );

    it('even if its address sends many forged requests', async () => {
      await failTooOften();
      expect(await codeOf('timestamped', {}, forged())).toEqual([429, 'rate_limited']);
      expect((await send('timestamped', body, signed(body))).status).toBe(200);
    });
  });

  describe('is rejected in this order:', () => {
    const large = Buffer.alloc(LIMIT + 1, 0x20);
    const fresh = () => signed(Buffer.from('{}'));

    it.each(['nobody', 'disabled', '__proto__', '%00'])(
      '404 for the unknown or disabled source %s, for any size and signature of the body',
      async (source) => {
        expect(await codeOf(source, {}, fresh())).toEqual([404, 'unknown_source']);
        expect(await codeOf(source, large, signed(large))).toEqual([404, 'unknown_source']);
        expect(await codeOf(source, {}, {})).toEqual([404, 'unknown_source']);
      },
    );

    it('413 before the check of the signature', async () => {
      expect(await codeOf('timestamped', large, {})).toEqual([413, 'payload_too_large']);
      expect(await codeOf('timestamped', large, signed(large))).toEqual([413, 'payload_too_large']);
      const most = Buffer.from(`"${'x'.repeat(LIMIT - 2)}"`);
      expect((await send('timestamped', most, signed(most))).status).toBe(200);
    });

    it('401 before the body is parsed', async () => {
      for (const body of [{}, Buffer.from('{'), Buffer.from([0xff]), gzipSync('{}')]) {
        expect(await codeOf('timestamped', body, {})).toEqual([401, 'invalid_signature']);
        expect(await codeOf('timestamped', body, forged())).toEqual([401, 'invalid_signature']);
      }
      const empty = Buffer.from('{}');
      for (const [source, headers, code] of [
        ['timestamped', signed(empty, now() - 400), 'timestamp_expired'],
        ['timestamped', signed(empty, now() + 400), 'timestamp_expired'],
        ['timestamped', { ...forged(), 'x-webhook-timestamp': '1' }, 'invalid_signature'],
        ['standard', standard(empty, 1), 'timestamp_expired'],
        ['token', { 'x-webhook-token': `${SECRET}x` }, 'invalid_signature'],
      ] as const) {
        expect(await codeOf(source, {}, headers)).toEqual([401, code]);
      }
    });

    it('400 for a signed body that is not JSON', async () => {
      for (const body of ['', ' ', '{', '\ufeff', 'a=b'].map((text) => Buffer.from(text))) {
        expect(await codeOf('timestamped', body, signed(body))).toEqual([400, 'bad_request']);
      }
      const packed = gzipSync('{}');
      const headers = { ...signed(packed), 'content-encoding': 'gzip' };
      expect(await codeOf('timestamped', packed, headers)).toEqual([400, 'bad_request']);
    });

    it('503 if the sources cannot be read', async () => {
      directory.mockRejectedValue(new UnavailableError('The database is not available.'));
      expect(await codeOf('timestamped', {}, fresh())).toEqual([503, 'service_unavailable']);
    });
  });

  describe('under RATE_LIMIT_WEBHOOK', () => {
    let limited: TestApp;
    const startLimited = async (limit: string) => {
      limited = await start({ RATE_LIMIT_WEBHOOK: limit });
      jest.spyOn(limited.nest.get(WebhookSourcesService), 'find').mockImplementation(find);
    };
    afterEach(() => limited.close());

    it('is limited by source, with three headers, and forged requests do not count', async () => {
      await startLimited('3');
      const body = Buffer.from('{}');
      for (let sent = 0; sent < 10; sent += 1) {
        const refused = await send('timestamped', body, forged(), limited);
        expect([refused.status, refused.headers['x-ratelimit-limit']]).toEqual([401, undefined]);
      }
      for (let left = 2; left >= 0; left -= 1) {
        const event = Buffer.from(JSON.stringify({ left }));
        const { status, headers } = await send('timestamped', event, signed(event), limited);
        expect([status, headers['x-ratelimit-limit']]).toEqual([200, '3']);
        expect(headers['x-ratelimit-remaining']).toBe(String(left));
        expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(now());
      }
      // The limit is checked before the body is parsed.
      const broken = Buffer.from('{');
      const refused = await send('timestamped', broken, signed(broken), limited);
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      expect((await send('timestamped', body, forged(), limited)).status).toBe(401);
      const token = { 'x-webhook-token': SECRET };
      expect((await send('token', body, token, limited)).status).toBe(200);
    });

    it('does not use up the limit of its source if it is a copy of an earlier request', async () => {
      await startLimited('60');
      const caught = Buffer.from('{"caught":true}');
      const headers = signed(caught);
      const statuses: number[] = [];
      for (let sent = 0; sent < 65; sent += 1) {
        statuses.push((await send('timestamped', caught, headers, limited)).status);
      }
      expect(statuses).toEqual([...Array(60).fill(200), ...Array(5).fill(429)]);
      const own = Buffer.from('{"own":true}');
      expect((await send('timestamped', own, signed(own), limited)).status).toBe(200);
    });
  });

  it('counts against the address of its sender, whatever the reason of the rejection is', async () => {
    for (let sent = 0; sent < 30; sent += 1) {
      expect((await send('nobody', {}, {})).status).toBe(404);
      expect((await send('body', {}, forged())).status).toBe(401);
    }
    for (const source of ['nobody', 'body', 'disabled']) {
      const answer = await send(source, {}, forged());
      expect([answer.status, answer.body.error.code]).toEqual([429, 'rate_limited']);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    address = '203.0.113.9';
    expect((await send('body', {}, forged())).status).toBe(401);
  });

  it('leaves a record without its body if it is refused', async () => {
    const body = Buffer.from('{"password":"hunter2"}');
    for (let sent = 0; sent < 5; sent += 1) await send('body', body, forged());
    await send('timestamped', body, signed(body, 1));
    await send('timestamped', body, forged());
    await send('unheard-of', body, {});
    const mine = async () =>
      (await rows('webhook.refused')).filter(({ actor }) => actor === `address:${address}`);
    const recorded = await eventually(mine, ({ length }) => length >= 8);
    const told = recorded.map(({ subject_id, details }) => [subject_id, details]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['body', { reason: 'invalid_signature' }],
        ['timestamped', { reason: 'timestamp_expired' }],
        ['timestamped', { reason: 'invalid_signature' }],
        ['unknown', { reason: 'unknown_source' }],
      ]),
    );
    expect(JSON.stringify(told)).not.toMatch(/hunter2|unheard-of/);
  });

  it('is counted by source and error code, but never under the name of an unknown source', async () => {
    const before = await errorsTotal('source="body",code="invalid_signature"');
    const unknown = await errorsTotal('source="other",code="unknown_source"');
    await send('body', {}, forged());
    await send('invented', {}, forged());
    await send('disabled', {}, forged());
    expect(await errorsTotal('source="body",code="invalid_signature"')).toBe(before + 1);
    expect(await errorsTotal('source="other",code="unknown_source"')).toBe(unknown + 2);
    expect((await app.get('/metrics')).text).not.toMatch(/invented|"disabled"/);
  });
});
