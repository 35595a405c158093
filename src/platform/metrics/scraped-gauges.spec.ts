import { Logger } from '@nestjs/common';
import { Counter, Gauge, register } from 'prom-client';
import { ScrapedGauges } from './scraped-gauges.js';

describe('ScrapedGauges', () => {
  const known = register.getMetricsAsArray().map(({ name }) => name);
  let made = 0;
  const newGauge = (...labelNames: string[]) =>
    new Gauge({ name: `gauge_${(made += 1)}`, help: 'Of a test.', labelNames });
  const nameOf = (metric: object) => (metric as { readonly name: string }).name;
  const shown = async (gauge: Gauge): Promise<number | undefined> =>
    (await gauge.get()).values[0]?.value;

  beforeAll(() => void jest.spyOn(Logger.prototype, 'debug').mockImplementation());
  afterAll(() => {
    jest.restoreAllMocks();
    const names = register.getMetricsAsArray().map(({ name }) => name);
    for (const name of names) if (!known.includes(name)) register.removeSingleMetric(name);
  });

  it('reads the values at each scrape, but only once for concurrent scrapes', async () => {
    const gauge = newGauge();
    const read = jest.fn(async () => 7);
    new ScrapedGauges().register(nameOf(gauge), read);
    expect(await Promise.all([shown(gauge), shown(gauge), shown(gauge)])).toEqual([7, 7, 7]);
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('omits gauges that cannot be read and shows the others', async () => {
    const [broken, hung, good] = [newGauge(), newGauge(), newGauge()];
    broken.set(5);
    hung.set(5);
    const gauges = new ScrapedGauges();
    gauges.register(nameOf(broken), () => Promise.reject(new Error('The database is away.')));
    gauges.register(nameOf(hung), () => new Promise(() => undefined));
    gauges.register(nameOf(good), () => 3);
    const text = await register.metrics();
    expect(await Promise.all([shown(broken), shown(hung)])).toEqual([undefined, undefined]);
    expect(text).toMatch(new RegExp(`^${nameOf(good)} 3$`, 'm'));
  });

  it('shows one value per label, and no value if the read fails', async () => {
    const gauge = newGauge('status');
    const values = [
      [{ status: 'queued' }, 3],
      [{ status: 'failed' }, 0],
    ] as const;
    new ScrapedGauges().register(nameOf(gauge), () => values);
    const read = async () => (await gauge.get()).values.map((one) => [one.labels, one.value]);
    expect(await read()).toEqual(values);
    new ScrapedGauges().register(nameOf(gauge), () =>
      Promise.reject(new Error('The database is away.')),
    );
    expect(await read()).toEqual([]);
  });

  it('shows no value without data, and no label of an earlier scrape', async () => {
    const plain = newGauge();
    new ScrapedGauges().register(nameOf(plain), () => undefined);
    expect(await shown(plain)).toBeUndefined();
    const gauge = newGauge('name');
    gauge.set({ name: 'renamed' }, 1);
    new ScrapedGauges().register(nameOf(gauge), () => [[{ name: 'new' }, 1]]);
    expect((await gauge.get()).values.map(({ labels }) => labels)).toEqual([{ name: 'new' }]);
  });

  it('creates the series of a counter before a scrape, and shows the counter even if the creation fails', async () => {
    const counter = new Counter({
      name: 'labelled_counter',
      help: 'Of a test.',
      labelNames: ['source'],
    });
    const values = async () => (await counter.get()).values.map(({ value }) => value);
    new ScrapedGauges().registerSeries(counter, async () => counter.inc({ source: 'siem' }, 0));
    expect(await values()).toEqual([0]);
    counter.inc({ source: 'siem' });
    new ScrapedGauges().registerSeries(counter, () => Promise.reject(new Error('It is away.')));
    expect(await values()).toEqual([1]);
  });
});
