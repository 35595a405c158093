import type { FastifyReply } from 'fastify';
import { LimitCounter } from './limits.js';
import { LimitStorage } from './limit-storage.js';
import { loadSettings } from '../config/load-settings.js';

const LIMIT = { name: 'login', perMinute: 5 };
const MINUTE = 60_000;
/** Limit of a /48, as a multiple of the limit of a /64. */
const SITE_SHARE = 8;

describe('LimitCounter.chargeAddress', () => {
  let storage: LimitStorage;
  let counter: LimitCounter;
  let headers: Record<string, string>;
  const reply = {
    headers: (given: Record<string, string>) => (headers = given),
  } as unknown as FastifyReply;

  beforeEach(() => {
    storage = new LimitStorage(loadSettings({}));
    counter = new LimitCounter(storage);
  });

  const charge = (subnet: number): Promise<number> =>
    counter.chargeAddress(LIMIT, `2001:db8:0:${subnet.toString(16)}::1`, reply).then(
      () => 200,
      (error: { status: number }) => error.status,
    );
  const countOf = async (network: string): Promise<number> =>
    (await storage.peek(`address ${network}`, MINUTE, LIMIT.perMinute, LIMIT.name)).totalHits;

  it('does not charge a network if the wider network rejects the request', async () => {
    for (let subnet = 0; subnet < SITE_SHARE; subnet += 1) {
      for (let count = 0; count < LIMIT.perMinute; count += 1)
        expect(await charge(subnet)).toBe(200);
    }
    for (let count = 0; count < 3; count += 1) expect(await charge(99)).toBe(429);
    expect(headers['x-ratelimit-limit']).toBe(String(SITE_SHARE * LIMIT.perMinute));
    expect(await countOf('2001:db8:0:63::/64')).toBe(0);
    expect(await countOf('2001:db8::/48')).toBe(SITE_SHARE * LIMIT.perMinute);
  });

  it('does not charge the wider network if the own network rejects the request', async () => {
    for (let count = 0; count < LIMIT.perMinute + 3; count += 1) await charge(1);
    expect(await countOf('2001:db8::/48')).toBe(LIMIT.perMinute);
  });
});
