import { Body, Controller, Get, Head, Post } from '@nestjs/common';
import { IsString } from 'class-validator';
import { Public, Requires } from '../../src/platform/access/access.js';
import { AppError, NotFoundError } from '../../src/platform/errors/app-error.js';
import { Limited } from '../../src/platform/limits/request-limits.js';
import { type BareApp, startBareApp } from '../support/bare-app.js';
import type { Answer } from '../support/api-client.js';

class TextDto {
  @IsString()
  readonly text: string;
}

@Controller('things')
@Requires('viewer')
class ThingsController {
  @Get()
  list(): string[] {
    return [];
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundError('Thing');
  }

  @Get('broken')
  broken(): never {
    throw new Error('broken');
  }

  @Get('forbidden')
  forbidden(): never {
    throw new AppError('forbidden', 'No.');
  }

  @Post()
  create(@Body() body: TextDto): TextDto {
    return body;
  }

  @Post('triage')
  @Limited('triage')
  triage(): object {
    return {};
  }

  @Post('stop')
  @Limited({ name: 'stop', perMinute: 3 })
  stop(): object {
    return {};
  }

  @Post('receipts')
  @Limited('none')
  receive(): object {
    return {};
  }
}

@Controller('open')
@Public()
class OpenController {
  @Get()
  @Head()
  read(): object {
    return {};
  }

  @Post()
  @Limited('write')
  write(): object {
    return {};
  }
}

const LIMITS = { RATE_LIMIT_READ: '5', RATE_LIMIT_WRITE: '2', RATE_LIMIT_TRIAGE: '1' };

function limitsOf({ status, headers }: Answer) {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const value = headers[`x-ratelimit-${name}`];
    return value === undefined ? undefined : Number(value);
  });
  return { status, limit, remaining, reset };
}

describe('Rate limits', () => {
  let app: BareApp;
  let caller = 0;
  const someone = (limits?: object) => app.as(`someone-${(caller += 1)}`, limits);

  beforeAll(async () => {
    app = await startBareApp({
      controllers: [ThingsController, OpenController],
      settings: { ...LIMITS, TRUST_PROXY: '127.0.0.1' },
    });
  });
  afterAll(() => app.close());

  it('counts reads, writes and triage of a principal apart, and tells each time', async () => {
    const ana = someone();
    const now = Math.floor(Date.now() / 1000);
    for (const remaining of [4, 3, 2, 1, 0]) {
      const seen = limitsOf(await ana.request('GET', '/things'));
      const passed = Date.now() / 1000 - now;
      expect(seen).toMatchObject({ status: 200, limit: 5, remaining });
      expect(seen.reset! - now).toBeGreaterThanOrEqual(59);
      expect(seen.reset! - now).toBeLessThanOrEqual(60 + Math.ceil(passed));
    }
    const refused = await ana.request('GET', '/things/missing');
    expect(limitsOf(refused)).toMatchObject({ status: 429, limit: 5, remaining: 0 });
    expect(refused.body.error.code).toBe('rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(50);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    const write = await ana.request('POST', '/things', { body: { text: 'a' } });
    expect(limitsOf(write)).toMatchObject({ status: 201, limit: 2, remaining: 1 });
    const triage = await ana.request('POST', '/things/triage');
    expect(limitsOf(triage)).toMatchObject({ status: 201, limit: 1, remaining: 0 });
    expect((await ana.request('POST', '/things/triage')).status).toBe(429);
    expect((await someone().request('GET', '/things')).status).toBe(200);
  });

  it.each([
    ['GET', '/things/missing', undefined, 404, 'read'],
    ['GET', '/things/broken', undefined, 500, 'read'],
    ['GET', '/things/forbidden', undefined, 403, 'read'],
    ['POST', '/things', '{', 415, 'write'],
    ['POST', '/things', { text: 1 }, 422, 'write'],
    ['POST', '/things', { text: 'x'.repeat(2_000_000) }, 413, 'write'],
  ])('tells the limits on an error too: %s %s', async (method, path, body, status, kind) => {
    const seen = limitsOf(await someone().request(method, path, { body }));
    expect(seen).toMatchObject({ status, limit: kind === 'read' ? 5 : 2 });
    expect(seen.remaining).toBe(seen.limit! - 1);
  });

  it('counts HEAD once, as a read', async () => {
    const ana = someone();
    expect(limitsOf(await ana.request('HEAD', '/things'))).toMatchObject({ remaining: 4 });
    expect(limitsOf(await ana.request('GET', '/things'))).toMatchObject({ remaining: 3 });
  });

  it('lets no more through than the limit when all come at once', async () => {
    const ana = someone();
    const all = await Promise.all(Array.from({ length: 40 }, () => ana.request('GET', '/things')));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(35);
  });

  it("takes a principal's own limits instead of the configured ones, and 0 for none", async () => {
    const few = someone({ read: 1 });
    expect(limitsOf(await few.request('GET', '/things'))).toMatchObject({ limit: 1, remaining: 0 });
    expect((await few.request('GET', '/things')).status).toBe(429);
    expect(limitsOf(await few.request('POST', '/things/triage'))).toMatchObject({ limit: 1 });
    const unlimited = someone({ read: 0 });
    expect(limitsOf(await unlimited.request('GET', '/things')).limit).toBeUndefined();
  });

  it('raises reads and writes of a key of the class integration, and not its triage', async () => {
    const soar = someone().with({ 'x-caller-class': 'integration' });
    expect(limitsOf(await soar.request('GET', '/things'))).toMatchObject({ limit: 600 });
    const write = await soar.request('POST', '/things', { body: { text: 'a' } });
    expect(limitsOf(write)).toMatchObject({ limit: 300, remaining: 299 });
    expect(limitsOf(await soar.request('POST', '/things/triage'))).toMatchObject({ limit: 1 });
  });

  it('never lowers with a class what the operator configured', async () => {
    const settings = { RATE_LIMIT_READ: '0', RATE_LIMIT_WRITE: '5000' };
    const other = await startBareApp({ controllers: [ThingsController], settings });
    try {
      const soar = other.as('soar').with({ 'x-caller-class': 'integration' });
      expect(limitsOf(await soar.request('GET', '/things')).limit).toBeUndefined();
      const write = await soar.request('POST', '/things', { body: { text: 'a' } });
      expect(limitsOf(write)).toMatchObject({ limit: 5000 });
    } finally {
      await other.close();
    }
  });

  it('counts a limit of its own apart from write', async () => {
    const ana = someone();
    for (const remaining of [2, 1, 0]) {
      expect(limitsOf(await ana.request('POST', '/things/stop'))).toMatchObject({
        status: 201,
        limit: 3,
        remaining,
      });
    }
    expect((await ana.request('POST', '/things/stop')).status).toBe(429);
    const write = await ana.request('POST', '/things', { body: { text: 'a' } });
    expect(limitsOf(write)).toMatchObject({ status: 201, remaining: 1 });
  });

  it('does not limit what has a scheme of its own, nor what is public', async () => {
    for (let i = 0; i < 10; i += 1) {
      const receipt = limitsOf(await someone().request('POST', '/things/receipts'));
      expect(receipt).toMatchObject({ status: 201, limit: undefined });
      const open = limitsOf(await app.client.request('GET', '/open'));
      expect(open).toMatchObject({ status: 200, limit: undefined });
    }
  });

  it('counts per address where there is no principal: per /64 in IPv6', async () => {
    const from = (address: string) =>
      app.client.request('POST', '/open', { headers: { 'x-forwarded-for': address } });
    expect(limitsOf(await from('192.0.2.1'))).toMatchObject({ status: 201, remaining: 1 });
    expect(limitsOf(await from('192.0.2.2'))).toMatchObject({ status: 201, remaining: 1 });
    expect(limitsOf(await from('2001:db8::1'))).toMatchObject({ remaining: 1 });
    expect(limitsOf(await from('2001:db8::2'))).toMatchObject({ remaining: 0 });
    expect((await from('2001:db8::3')).status).toBe(429);
    expect((await from('2001:db8:0:1::3')).status).toBe(201);
  });

  it('counts an address the same however a proxy writes it', async () => {
    const from = (address: string) =>
      app.client.request('POST', '/open', { headers: { 'x-forwarded-for': address } });
    expect((await from('203.0.113.1:40001')).status).toBe(201);
    expect((await from('203.0.113.1:40002')).status).toBe(201);
    expect((await from('203.0.113.1')).status).toBe(429);
    expect((await from('[::ffff:203.0.113.1]:40003')).status).toBe(429);
    expect((await from('[2001:db8:a:1::1]:40001')).status).toBe(201);
    expect((await from('[2001:db8:a:1::2]:40002')).status).toBe(201);
    expect((await from('2001:db8:a:1::3')).status).toBe(429);
  });

  it('gives the /48 above many /64 the eightfold, and no more', async () => {
    const statuses: number[] = [];
    for (let subnet = 0; subnet < 20; subnet += 1) {
      const headers = { 'x-forwarded-for': `2001:db8:b:${subnet}::1` };
      const seen = limitsOf(await app.client.request('POST', '/open', { headers }));
      statuses.push(seen.status);
      expect(seen.limit).toBe(seen.status === 201 ? 2 : 16);
    }
    expect(statuses).toEqual([...Array(16).fill(201), ...Array(4).fill(429)]);
  });

  it('believes no X-Forwarded-For of a peer that is not a trusted proxy', async () => {
    const other = await startBareApp({ controllers: [OpenController], settings: LIMITS });
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 3; i += 1) {
        const headers = { 'x-forwarded-for': `192.0.2.${i}` };
        statuses.push((await other.client.request('POST', '/open', { headers })).status);
      }
      expect(statuses).toEqual([201, 201, 429]);
    } finally {
      await other.close();
    }
  });
});
