import type { Transactions, Tx } from '../../platform/database/transactions.js';
import type { NewTimelineEntry } from './timeline-entry.js';
import { IncidentTimeline } from './incident-timeline.js';
import type { TimelineRepository } from './timeline.repository.js';

const entry = (event: string): NewTimelineEntry => ({
  incidentId: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  event,
  actor: 'alice',
  summary: event,
});

describe('IncidentTimeline', () => {
  /** The columns that were inserted: ids and times of all entries in the order in which they were added. */
  const added: { ids: string[]; times: string[] } = { ids: [], times: [] };
  let now = 0;
  const insert: TimelineRepository['insert'] = async (_tx, values) => {
    added.ids.push(...(values[0] as string[]));
    added.times.push(...(values[2] as string[]));
  };
  const timeline = new IncidentTimeline({ insert } as TimelineRepository, {} as Transactions, {
    now: () => new Date(now),
  });

  beforeEach(() => {
    added.ids = [];
    added.times = [];
  });

  it('keeps the order in which a transaction adds entries, also within a millisecond', async () => {
    const tx = {} as Tx;
    now = Date.UTC(2100, 5, 1);
    for (let n = 0; n < 50; n += 1) await timeline.add(tx, entry('cause'), entry('effect'));
    expect(added.ids.toSorted()).toEqual(added.ids);
  });

  it('keeps it when the clock is set back in the middle', async () => {
    const tx = {} as Tx;
    now = Date.UTC(2100, 6, 1);
    await timeline.add(tx, entry('cause'));
    now -= 5_000;
    await timeline.add(tx, entry('effect'));
    expect(added.ids.toSorted()).toEqual(added.ids);
    expect(added.times.toSorted()).toEqual(added.times);
  });

  it('takes the time of the clock for the next transaction', async () => {
    now = Date.UTC(2100, 7, 1);
    await timeline.add({} as Tx, entry('earlier'));
    now -= 5_000;
    await timeline.add({} as Tx, entry('later'));
    expect(added.times[1]).toBe(new Date(now).toISOString());
  });
});
