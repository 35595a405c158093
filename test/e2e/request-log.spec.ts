import { Controller, Get, Module, Injectable } from '@nestjs/common';
import { DeadJobsService } from '../../src/dead-jobs/dead-jobs.service.js';
import { Public } from '../../src/platform/access/access.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { Work } from '../../src/platform/work/work.js';
import { newId } from '../../src/platform/ids.js';
import type { Answer } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { samplesWith, scrape } from '../support/metrics.js';
import { as, makeKey } from '../support/principals.js';
import { rawRequest } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const lines: Line[] = [];
const app = useStarted(() =>
  startTestApp({
    settings: { LOG_LEVEL: 'info' },
    modules: [BrokenModule, HopelessModule],
    undocumented: /^\/test-only\//,
    log: { write: (line) => lines.push(JSON.parse(line) as Line) },
  }),
);

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
  async function lineOf({ headers }: Pick<Answer, 'headers'>): Promise<Line> {
    const found = await eventually(
      () => lines.filter((line) => line['request_id'] === headers['x-request-id']),
      ({ length }) => length > 0,
    );
    expect(found).toHaveLength(1);
    return found[0]!;
  }

  it('contains the trace id of a well-formed traceparent even without a collector', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceOf = async (traceparent: string) => {
      const answer = await app.get('/api/me', { traceparent });
      return (await lineOf(answer))['trace_id'];
    };
    expect(await traceOf(`00-${traceId}-00f067aa0ba902b7-01`)).toBe(traceId);
    expect(await traceOf(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`)).toBeUndefined();
    expect(await traceOf(`ff-${traceId}-00f067aa0ba902b7-01`)).toBeUndefined();
  });

  it('contains caller, operation, address, user agent and status', async () => {
    const viewer = await as(app, 'viewer');
    const id = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    const answer = await viewer.get(`/api/incidents/${id}`, {
      'user-agent': `agent/1 ${'x'.repeat(1_000)}`,
    });
    const line = await lineOf(answer);
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

  it('names the resource that a request created', async () => {
    const analyst = await as(app, 'analyst');
    const answer = await analyst.post('/api/incidents', {
      incident_type: 'phishing',
      source: 'test',
    });
    expect(answer.status).toBe(201);
    const line = await lineOf(answer);
    expect(line).toMatchObject({ id: answer.body.data.id as unknown, status: 201 });
    expect(line).not.toHaveProperty('code');
  });

  it.each([
    ['DELETE', '/api/api-keys/', '/api/api-keys/:id', undefined],
    ['POST', '/api/webhooks/', '/api/webhooks/:source', '0123456789abcdef'.repeat(2)],
    ['GET', '/api/', 'unknown', `%69ts_${'k'.repeat(52)}`],
    ['GET', '/docs/guides/', '/docs/guides/:name', undefined],
  ])(
    'truncates an API key that is in place of an id in %s %s',
    async (method, path, route, other) => {
      const admin = await makeKey(app, 'admin');
      const key = other ?? admin.key;
      const answer = await admin.client.request(method, path + key, { body: {} });
      const line = await lineOf(answer);
      expect(line).toMatchObject({ route, status: answer.status });
      expect(JSON.stringify(line)).not.toContain(decodeURIComponent(key).slice(0, 17));
      if (route === 'unknown') expect(line).not.toHaveProperty('id');
      else expect(line['id']).toBe(`${decodeURIComponent(key).slice(0, 16)}…`);
    },
  );

  it('contains the full name or id of a resource', async () => {
    const admin = await as(app, 'admin');
    const name = 'a-source-with-a-name-of-some-length';
    await admin.post('/api/webhooks', { source: name, secret: 'secret-that-nobody-sees' });
    const found = await admin.get(`/api/webhooks/${name}`);
    expect(found.status).toBe(200);
    expect(await lineOf(found)).toMatchObject({ id: name });
    const id = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    const missed = await admin.get(`/api/actions/${id}`);
    expect(missed.status).toBe(404);
    expect(await lineOf(missed)).toMatchObject({ id });
  });

  it('escapes terminal control and bidirectional characters', async () => {
    const viewer = await as(app, 'viewer');
    const answer = await viewer.get('/api/incidents/a%E2%80%AE%C2%9B31mb', {
      'user-agent': 'x\u009b31mevil',
    });
    expect(await lineOf(answer)).toMatchObject({
      id: 'a⟦U+202E⟧⟦U+009B⟧31mb',
      user_agent: 'x⟦U+009B⟧31mevil',
    });
  });

  it.each([
    ['a method that nobody knows', 'FOO / HTTP/1.1\r\n\r\n', 400],
    ['headers that are too large', `GET / HTTP/1.1\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])(
    'contains requests that Node rejects, with the request id of the response: %s',
    async (_, text, status) => {
      const answer = await rawRequest(app.port, text);
      expect(answer.status).toBe(status);
      const line = await lineOf(answer);
      expect(line).toMatchObject({
        level: 'info',
        route: 'unknown',
        status,
        code: 'bad_request',
        reason: expect.stringMatching(/^HPE_/) as string,
        address: '127.0.0.1',
      });
      expect(JSON.stringify(line)).not.toMatch(/FOO|xxx/);
    },
  );

  it('contains the cause of a failure in the same line, with secrets redacted', async () => {
    const answer = await app.get('/test-only/broken');
    expect(answer.status).toBe(500);
    const line = await lineOf(answer);
    expect(line).toMatchObject({
      level: 'error',
      status: 500,
      code: 'internal_error',
      err: { message: 'The disk is on fire.', parameters: '[redacted]' },
    });
    expect((line['err'] as Line)['stack']).toContain('BrokenController');
  });
});

let broken = true;
const done: number[] = [];

@Injectable()
class Hopeless {
  constructor(work: Work) {
    work.define<{ n: number }, void>({
      name: 'hopeless',
      places: 1,
      mostAttempts: 1,
      one: async ({ data }) => {
        if (broken) throw new Error('It cannot be done.');
        done.push(data.n);
      },
    });
  }
}

@Module({ providers: [Hopeless] })
class HopelessModule {}

describe('the API of dead jobs', () => {
  it('shows dead jobs with their errors to an admin, and requeues them', async () => {
    const work = app.nest.get(Work);
    const added = { ref: newId(), data: { n: 1 } };
    await app.nest.get(Transactions).run((tx) => work.add(tx, { name: 'hopeless' }, added));
    await eventually(
      () => app.nest.get(DeadJobsService).list({ page: 1, per_page: 1, sort: '-created_at' }),
      ({ total }) => total === 1,
    );
    const admin = await as(app, 'admin');
    const listed = await admin.get('/api/jobs/dead?queue=hopeless');
    expect(listed.body.data).toMatchObject([
      { queue: 'hopeless', attempts: 1, error: 'It cannot be done.' },
    ]);
    expect(listed.body.meta).toEqual({ page: 1, per_page: 20, total: 1 });

    expect(samplesWith(await scrape(app), 'jobs_dead').map(({ value }) => value)).toEqual([1]);

    broken = false;
    const { id } = listed.body.data[0];
    const requeued = await admin.post(`/api/jobs/dead/${id.toUpperCase()}/requeue`);
    expect(requeued).toMatchObject({ status: 200, body: { data: { id, requeued: true } } });
    await eventually(() => done.length === 1);
    expect((await admin.get('/api/jobs/dead')).body.meta.total).toBe(0);
    const { body } = await admin.get(`/api/audit?action=job.requeued&subject=job:${id}`);
    expect(body.data).toHaveLength(1);
  });
});
