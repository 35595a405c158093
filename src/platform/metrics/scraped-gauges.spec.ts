import { Logger } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { ScrapedGauges } from './scraped-gauges.js';

describe('ScrapedGauges', () => {
  const registry = new Registry();
  let made = 0;
  const newGauge = () =>
    new Gauge({ name: `gauge_${(made += 1)}`, help: 'Of a test.', registers: [registry] });
  const shown = async (gauge: Gauge): Promise<number | undefined> =>
    (await gauge.get()).values[0]?.value;

  beforeAll(() => void jest.spyOn(Logger.prototype, 'debug').mockImplementation());
  afterAll(() => jest.restoreAllMocks());

  it('reads at each scrape, once for concurrent scrapes', async () => {
    const gauge = newGauge();
    const read = jest.fn(async () => 7);
    new ScrapedGauges().register(gauge, read);
    expect(await Promise.all([shown(gauge), shown(gauge), shown(gauge)])).toEqual([7, 7, 7]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('omits gauges that cannot be read and shows the others', async () => {
    const [broken, hung, good] = [newGauge(), newGauge(), newGauge()];
    broken.set(5);
    hung.set(5);
    const gauges = new ScrapedGauges();
    gauges.register(broken, () => Promise.reject(new Error('The database is away.')));
    gauges.register(hung, () => new Promise(() => undefined));
    gauges.register(good, () => 3);
    const text = await registry.metrics();
    expect(await Promise.all([shown(broken), shown(hung)])).toEqual([undefined, undefined]);
    expect(text).toMatch(new RegExp(`^${(good as unknown as { name: string }).name} 3$`, 'm'));
  });

  it('shows one value per label, and none if the read fails', async () => {
    const gauge = new Gauge({
      name: 'labelled_gauge',
      help: 'Of a test.',
      labelNames: ['status'],
      registers: [registry],
    });
    const values = [
      [{ status: 'queued' }, 3],
      [{ status: 'failed' }, 0],
    ] as const;
    new ScrapedGauges().register(gauge, () => values);
    const read = async () => (await gauge.get()).values.map((one) => [one.labels, one.value]);
    expect(await read()).toEqual(values);
    new ScrapedGauges().register(gauge, () => Promise.reject(new Error('The database is away.')));
    expect(await read()).toEqual([]);
  });

  it('shows no value without data, and no label of an earlier scrape', async () => {
    const plain = newGauge();
    new ScrapedGauges().register(plain, () => undefined);
    expect(await shown(plain)).toBeUndefined();
    const gauge = new Gauge({
      name: 'gauge_of_names',
      help: 'Of a test.',
      labelNames: ['name'],
      registers: [registry],
    });
    gauge.set({ name: 'renamed' }, 1);
    new ScrapedGauges().register(gauge, () => [[{ name: 'new' }, 1]]);
    expect((await gauge.get()).values.map(({ labels }) => labels)).toEqual([{ name: 'new' }]);
  });

  it('creates the series of a counter before a scrape, and shows the counter even if that fails', async () => {
    const counter = new Counter({
      name: 'labelled_counter',
      help: 'Of a test.',
      labelNames: ['source'],
      registers: [registry],
    });
    const values = async () => (await counter.get()).values.map(({ value }) => value);
    new ScrapedGauges().registerSeries(counter, async () => counter.inc({ source: 'siem' }, 0));
    expect(await values()).toEqual([0]);
    counter.inc({ source: 'siem' });
    new ScrapedGauges().registerSeries(counter, () => Promise.reject(new Error('It is away.')));
    expect(await values()).toEqual([1]);
  });

  it('releases a gauge when its app ends, unless another app has taken it over', async () => {
    const gauge = newGauge();
    const [first, second] = [new ScrapedGauges(), new ScrapedGauges()];
    first.register(gauge, () => 1);
    second.register(gauge, () => 2);
    first.onModuleDestroy();
    expect(await shown(gauge)).toBe(2);
    second.onModuleDestroy();
    gauge.set(9);
    expect(await shown(gauge)).toBe(9);
  });
});
