import { afterFailure, afterPart, ending, NOTHING_DONE } from './receipt.js';

const settled = (outcome: 'created' | 'duplicate', incident_id: string) => ({
  outcome,
  incident_id,
  incident_number: 'INC-2026-0001',
});

describe('the progress of a body of many events', () => {
  it('continues after the settled events', () => {
    const events = [settled('created', 'a'), settled('created', 'b')];
    const after = afterPart(NOTHING_DONE, { events });
    expect(after).toMatchObject({ done: 2, most: 1000 });
    expect(ending(after, 2)).toMatchObject({ status: 'processed' });
  });

  it('halves a part that fails until one event is left, and leaves this event out', () => {
    const half = afterFailure(NOTHING_DONE, 3);
    expect(half).toMatchObject({ done: 0, most: 2 });
    const without = afterFailure(afterFailure(half, 2), 1);
    expect(without).toMatchObject({ done: 1, most: 1000 });
    const events = [settled('created', 'b'), settled('created', 'c')];
    const all = afterPart(without, { events });
    expect(ending(all, 3)).toMatchObject({
      status: 'failed',
      error: '1 of 3 events could not be stored. The log has the causes.',
    });
  });

  it('is a duplicate if all events are duplicates, of the receipt that the first part repeats', () => {
    const part = (id: string) => ({
      events: [settled('duplicate', id)],
      repeats: { id, hasBytes: true },
    });
    const two = afterPart(afterPart(NOTHING_DONE, part('x')), part('y'));
    expect(ending(two, 2)).toMatchObject({ status: 'duplicate', duplicate_of: 'x', body: null });
  });
});
