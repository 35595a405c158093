import {
  afterFailure,
  afterPart,
  ending,
  nextPart,
  NOTHING_DONE,
  type SettlingProgress,
} from './settling-progress.js';

const settled = (outcome: 'created' | 'duplicate', incidentId: string) => ({
  outcome,
  incidentId,
  incidentNumber: 'INC-2026-0001',
});

describe('progress of a body of many events', () => {
  it('goes on behind the events that are done', () => {
    const after = afterPart(
      NOTHING_DONE,
      [settled('created', 'a'), settled('created', 'b')],
      undefined,
    );
    expect(nextPart(after)).toEqual({ from: 2, most: 1000 });
    expect(ending(after, 2)).toMatchObject({ status: 'processed' });
  });

  it('halves a part that fails until one event is left, and leaves that one out', () => {
    const half = afterFailure(NOTHING_DONE, 3);
    expect(nextPart(half)).toEqual({ from: 0, most: 2 });
    const without = afterFailure(afterFailure(half, 2), 1);
    expect(nextPart(without)).toEqual({ from: 1, most: 1000 });
    const all = afterPart(without, [settled('created', 'b'), settled('created', 'c')], undefined);
    expect(ending(all, 3)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('number 1.'),
    });
  });

  it('counts the failed events that the message does not name', () => {
    const steps = Array.from({ length: 103 });
    const all = steps.reduce((before: SettlingProgress) => afterFailure(before, 1), NOTHING_DONE);
    expect(ending(all, 200).error).toContain('99, 100 and 3 more.');
  });

  it('is a duplicate if all events are, of the receipt that the first part repeats', () => {
    const one = afterPart(NOTHING_DONE, [settled('duplicate', 'a')], { id: 'x', hasBytes: true });
    const two = afterPart(one, [settled('duplicate', 'b')], { id: 'y', hasBytes: true });
    expect(ending(two, 2)).toMatchObject({ status: 'duplicate', duplicate_of: 'x' });
  });
});
