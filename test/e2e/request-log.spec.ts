import { Controller, Get, Module } from '@nestjs/common';
import { Public } from '../../src/platform/access/access.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

@Controller('test-only/broken')
@Public()
class BrokenController {
  @Get()
  fail(): never {
    throw Object.assign(new Error('The disk is on fire.'), { parameters: ['a hash'] });
  }
}

@Module({ controllers: [BrokenController] })
class BrokenModule {}

type Line = Readonly<Record<string, unknown>>;

describe('the log of requests', () => {
  let app: TestApp;
  const lines: Line[] = [];
  beforeAll(async () => {
    app = await startTestApp({
      settings: { LOG_LEVEL: 'info' },
      modules: [BrokenModule],
      undocumented: /^\/test-only\//,
      log: { write: (line) => lines.push(JSON.parse(line) as Line) },
    });
  });
  afterAll(() => app.close());

  async function lineOf(requestId: string): Promise<Line> {
    const found = await eventually(
      () => lines.filter((line) => line['request_id'] === requestId),
      ({ length }) => length > 0,
    );
    expect(found).toHaveLength(1);
    return found[0]!;
  }

  it('says who asked for what, from where and with which program, and how it ended', async () => {
    const viewer = await as(app, 'viewer');
    const id = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    const answer = await viewer.request('GET', `/api/incidents/${id}`, {
      headers: { 'user-agent': `agent/1 ${'x'.repeat(1_000)}` },
    });
    const line = await lineOf(String(answer.headers['x-request-id']));
    expect(line).toMatchObject({
      level: 'info',
      msg: 'request',
      method: 'GET',
      route: '/api/incidents/:id',
      id,
      status: 404,
      code: 'not_found',
      address: '127.0.0.1',
    });
    expect(line['caller']).toMatch(/^key:/);
    expect(line['user_agent']).toMatch(/^agent\/1 x+$/);
    expect(String(line['user_agent'])).toHaveLength(200);
  });

  it('names what a request made', async () => {
    const analyst = await as(app, 'analyst');
    const answer = await analyst.request('POST', '/api/incidents', {
      body: { incident_type: 'phishing', source: 'test' },
    });
    expect(answer.status).toBe(201);
    const line = await lineOf(String(answer.headers['x-request-id']));
    expect(line).toMatchObject({ id: answer.body.data.id as unknown, status: 201 });
    expect(line).not.toHaveProperty('code');
  });

  it('has the cause of a failure in the same line, without what nobody may see', async () => {
    const answer = await app.request('GET', '/test-only/broken');
    expect(answer.status).toBe(500);
    const line = await lineOf(String(answer.headers['x-request-id']));
    expect(line).toMatchObject({
      level: 'error',
      status: 500,
      code: 'internal_error',
      err: { message: 'The disk is on fire.', parameters: '[redacted]' },
    });
    expect((line['err'] as Line)['stack']).toContain('BrokenController');
  });

  it.each([
    ['GET', '/api/nothing-here', 404, 'not_found'],
    ['PATCH', '/live', 405, 'method_not_allowed'],
    ['GET', '/api/incidents', 401, 'unauthorized'],
  ])('has the code of %s %s', async (method, path, status, code) => {
    const answer = await app.request(method, path);
    // Whether an unknown path or a missing key is said first is decided elsewhere.
    expect([status, 401]).toContain(answer.status);
    const line = await lineOf(String(answer.headers['x-request-id']));
    expect(line['code']).toBe(answer.status === status ? code : 'unauthorized');
  });
});
