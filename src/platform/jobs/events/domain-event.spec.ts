import {
  batchesOf,
  type DomainEvent,
  eventFrom,
  eventOf,
  eventsFor,
  messageOf,
} from './domain-event.js';

const event = (type: string, n: number, text = ''): DomainEvent =>
  eventOf({ type, subject: { type: 'thing', id: String(n) }, payload: { text } }, new Date(n));

const ids = (batch: { events: readonly { subject: { id: string } }[] }): number[] =>
  batch.events.map(({ subject }) => Number(subject.id));

describe('batches of events', () => {
  it('hold what the handler listens to, in order, at most 100 each', () => {
    const events = Array.from({ length: 250 }, (_, n) => event(n % 5 ? 'heard' : 'other', n));
    const batches = batchesOf(eventsFor({ types: new Set(['heard']) }, events));

    expect(batches.map(({ events: { length } }) => length)).toEqual([100, 100]);
    expect(batches.flatMap(ids)).toEqual(
      Array.from({ length: 250 }, (_, n) => n).filter((n) => n % 5),
    );
    expect(batchesOf(eventsFor({ types: new Set(['never']) }, events))).toEqual([]);
  });

  it('leave out what the handler does not want', () => {
    const events = Array.from({ length: 6 }, (_, n) => event('heard', n));
    const wants = ({ subject }: DomainEvent) => Number(subject.id) > 3;
    const types = new Set(['heard']);

    expect(batchesOf(eventsFor({ types, wants }, events)).flatMap(ids)).toEqual([4, 5]);
  });

  it('have at most 256 KiB each', () => {
    const events = Array.from({ length: 40 }, (_, n) => event('large', n, 'x'.repeat(16_000)));
    const batches = batchesOf(events);

    expect(batches.length).toBeGreaterThan(2);
    for (const batch of batches) expect(JSON.stringify(batch).length).toBeLessThan(270_000);
    expect(batches.flatMap(ids)).toEqual(events.map((_, n) => n));
  });

  it('preserve an event in JSON', () => {
    const original = event('heard', 1_795_000_000_123);
    expect(eventFrom(JSON.parse(JSON.stringify(messageOf(original))) as never)).toEqual(original);
  });
});
