import { Controller, Get, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '../../src/platform/access/access.js';
import { RawAnswer } from '../../src/platform/http/answering-adapter.js';
import { ContractCheck, type ObservedAnswer } from '../support/contract-check.js';
import { type ContractDocument, readContract } from '../support/contract-check-document.js';
import { takeViolations } from '../support/contract-check-violations.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const HEADERS = {
  'x-request-id': 'r1',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
  'content-type': 'application/json; charset=utf-8',
};

const live = (over: Partial<ObservedAnswer> = {}): ObservedAnswer => ({
  method: 'GET',
  url: '/live?verbose=1',
  status: 200,
  headers: HEADERS,
  body: '{"status":"alive"}',
  ...over,
});

const errorAnswer = (status: number, error: object, over: Partial<ObservedAnswer> = {}) =>
  live({ status, body: JSON.stringify({ error }), ...over });

describe('the contract check', () => {
  const check = new ContractCheck(readContract());
  const BAD_REQUEST = { code: 'bad_request', message: 'No.', request_id: 'r1' };

  it.each<[string, ObservedAnswer]>([
    ['a documented answer', live()],
    ['HEAD where GET is documented', live({ method: 'HEAD', body: '' })],
    ['a documented error', errorAnswer(400, BAD_REQUEST)],
    ['a malformed request at an unknown address', errorAnswer(400, BAD_REQUEST, { url: '/%' })],
    [
      'an unknown address',
      errorAnswer(404, { ...BAD_REQUEST, code: 'not_found' }, { url: '/api/nothing' }),
    ],
    [
      'a method that is not documented, refused',
      errorAnswer(
        405,
        { ...BAD_REQUEST, code: 'method_not_allowed' },
        { method: 'PUT', headers: { ...HEADERS, allow: 'GET, HEAD' } },
      ),
    ],
  ])('accepts %s', (_, answer) => {
    expect(check.problems(answer)).toEqual([]);
  });

  it.each<[string, ObservedAnswer, RegExp]>([
    ['a body of another shape', live({ body: '{"status":"dead"}' }), /body\/status must be equal/],
    ['a missing field', live({ body: '{}' }), /must have required property 'status'/],
    ['an undeclared field', live({ body: '{"status":"alive","x":1}' }), /unevaluated.*"x"/],
    ['text instead of JSON', live({ body: 'alive' }), /is not JSON/],
    ['an undocumented status', live({ status: 201 }), /answers 201, which \/live/],
    ['an undocumented address', live({ url: '/alive' }), /does not have/],
    ['an undocumented method', live({ method: 'POST' }), /undocumented method/],
    [
      'an undocumented content type',
      live({ headers: { ...HEADERS, 'content-type': 'text/html' } }),
      /is text\/html; the document has application\/json/,
    ],
    [
      'a missing header',
      live({ headers: { ...HEADERS, 'x-request-id': undefined } }),
      /no x-request-id/i,
    ],
    ['an error without envelope', live({ status: 400, body: '{"message":"no"}' }), /'error'/],
    [
      'an error with a field of its own',
      errorAnswer(400, { ...BAD_REQUEST, stack: 'at' }),
      /additional properties.*stack/,
    ],
    [
      'a code that belongs to another status',
      errorAnswer(400, { ...BAD_REQUEST, code: 'conflict' }),
      /is conflict with status 400 instead of 409/,
    ],
    [
      'another request id than the header',
      errorAnswer(400, { ...BAD_REQUEST, request_id: 'r2' }),
      /names request r2 beside X-Request-Id r1/,
    ],
    [
      'an error page at an unknown address',
      live({
        url: '/nothing',
        status: 404,
        body: 'no',
        headers: { ...HEADERS, 'content-type': 'text/plain' },
      }),
      /error of type text\/plain/,
    ],
    [
      '405 without Allow',
      errorAnswer(405, { ...BAD_REQUEST, code: 'method_not_allowed' }, { method: 'PUT' }),
      /without Allow/,
    ],
  ])('refuses %s', (_, answer, words) => {
    expect(check.problems(answer).join('\n')).toMatch(words);
  });
});

describe('the contract check of schemas', () => {
  const schemas = {
    ...readContract().components.schemas,
    BaseDto: { type: 'object', properties: { id: { type: 'integer' } } },
    ThingDto: {
      type: 'object',
      required: ['kind'],
      allOf: [{ $ref: '#/components/schemas/BaseDto' }],
      properties: {
        kind: { type: 'string' },
        at: { type: 'string', format: 'date-time' },
        note: { type: 'string', nullable: true },
        free: { type: 'object', additionalProperties: true },
        size: { type: 'number', minimum: 0, exclusiveMinimum: true },
      },
    },
  };
  const content = {
    'application/json': { schema: { $ref: '#/components/schemas/ThingDto' } },
  };
  const document: ContractDocument = {
    paths: { '/things/{id}': { get: { responses: { 200: { content } } } } },
    components: { schemas },
  };
  const check = new ContractCheck(document);
  const problems = (thing: object) =>
    check.problems(live({ url: '/things/7', body: JSON.stringify(thing) }));

  it('takes inherited fields, free objects and nullable fields', () => {
    const thing = { id: 1, kind: 'a', at: '2026-01-31T09:30:00.000Z', note: null, size: 0.1 };
    expect(problems({ ...thing, free: { any: [null] } })).toEqual([]);
  });

  it.each([
    [{ kind: 'a', extra: 1 }],
    [{ kind: null }],
    [{ kind: 'a', size: 0 }],
    [{ kind: 'a', id: 1.5 }],
    [{ kind: 'a', at: '2026-01-31T09:30:00Z' }],
  ])('refuses %j', (thing) => {
    expect(problems(thing)).not.toEqual([]);
  });
});

@Controller('test-only')
class WrongController {
  @Get()
  @Public()
  @RawAnswer()
  answer(): object {
    return { not: 'in the document' };
  }

  @Get('hijacked')
  @Public()
  hijacked(@Res() reply: FastifyReply): void {
    reply.hijack();
    reply.raw.writeHead(200, { 'Content-Type': 'text/plain' });
    reply.raw.write('past ');
    reply.raw.end('Nest');
  }
}

@Module({ controllers: [WrongController] })
class WrongModule {}

describe('a test app', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ modules: [WrongModule] });
  });
  afterAll(() => app.close());

  it('fails the request whose answer the contract does not have', async () => {
    await expect(app.request('GET', '/test-only')).rejects.toThrow(
      /GET \/test-only broke the contract[^]*the document does not have[^]*in the document/,
    );
  });

  it('sees the answers to other clients too, and those that bypass the framework', async () => {
    await (await fetch(`${app.url}/test-only/hijacked`)).text();
    expect(takeViolations().join('\n')).toMatch(/hijacked broke[^]*past Nest/);
  });

  it('lets a right answer pass', async () => {
    expect(await app.request('GET', '/live')).toMatchObject({
      status: 200,
      body: { status: 'alive' },
    });
  });

  it('shares its database with a second app', async () => {
    const replica = await startTestApp({ database: app.database });
    try {
      expect((await replica.request('GET', '/ready')).status).toBe(200);
    } finally {
      await replica.close();
    }
    expect((await app.request('GET', '/ready')).status).toBe(200);
  });
});
