import { OutageLog } from './outage-log.js';

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000);

describe('the log of outages', () => {
  const made = () => {
    const log = { warn: jest.fn(), log: jest.fn() };
    return { log, outages: new OutageLog(log) };
  };

  it('has a line when one begins and one when it ends, however many runs notice', () => {
    const { log, outages } = made();
    outages.answered();
    for (let second = 0; second < 300; second += 1)
      outages.silent('overloaded', 'Busy.', at(second));
    for (let run = 0; run < 5; run += 1) outages.answered();
    expect(log.warn.mock.calls).toEqual([
      [{ reason: 'overloaded' }, 'The provider gives no verdicts: Busy.'],
    ]);
    expect(log.log).toHaveBeenCalledTimes(1);
  });

  it('has at most one such pair a minute while the provider answers now and then', () => {
    const { log, outages } = made();
    for (let second = 0; second < 180; second += 1) {
      outages.silent('overloaded', 'Busy.', at(second));
      outages.answered();
    }
    expect([log.warn.mock.calls.length, log.log.mock.calls.length]).toEqual([3, 3]);
  });

  it('tells of one that goes on, though it began soon after another', () => {
    const { log, outages } = made();
    outages.silent('overloaded', 'Busy.', at(0));
    outages.answered();
    outages.silent('unreachable', 'Gone.', at(30));
    expect(log.warn).toHaveBeenCalledTimes(1);
    outages.silent('unreachable', 'Gone.', at(61));
    expect(log.warn).toHaveBeenLastCalledWith({ reason: 'unreachable' }, expect.any(String));
  });
});
