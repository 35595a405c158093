import { Counter, Histogram, Registry } from 'prom-client';
import { beginAtZero } from './metrics.js';

describe('beginAtZero', () => {
  const registers = [new Registry()];
  const counter = new Counter({
    name: 'a_counter',
    help: 'Of a test.',
    labelNames: ['colour', 'size'],
    registers,
  });
  const seen = async () =>
    (await counter.get()).values.map(
      ({ labels, value }) => `${labels.colour} ${labels.size} ${value}`,
    );

  it('creates a series at 0 for every combination of labels', async () => {
    beginAtZero(counter, { colour: ['red', 'blue'], size: ['s', 'm', 'l'] });
    const found = await seen();
    expect(found.toSorted()).toEqual([
      'blue l 0',
      'blue m 0',
      'blue s 0',
      'red l 0',
      'red m 0',
      'red s 0',
    ]);
  });

  it('keeps existing counts, and creates nothing if a label has no value', async () => {
    counter.inc({ colour: 'red', size: 'm' }, 3);
    beginAtZero(counter, { colour: ['red'], size: ['m'] });
    beginAtZero(counter, { colour: [], size: ['xl'] });
    const found = await seen();
    expect(found).toContain('red m 3');
    expect(found.join()).not.toContain('xl');
  });

  it('creates the buckets of a histogram', async () => {
    const histogram = new Histogram({
      name: 'a_histogram',
      help: 'Of a test.',
      labelNames: ['status'],
      buckets: [1],
      registers,
    });
    beginAtZero(histogram, { status: ['well'] });
    const { values } = await histogram.get();
    expect(values.map(({ value }) => value)).toEqual([0, 0, 0, 0]);
  });
});
