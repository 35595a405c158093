import { ModelUnavailableError, type Remedy } from '../model/triage-model.port.js';
import { isTriedAgain, retryPauseMs } from './triage-work.js';

const down = (remedy: Remedy = 'time', retryAfterMs?: number) =>
  new ModelUnavailableError('unreachable', 'It does not answer.', remedy, { retryAfterMs });

describe('a background run', () => {
  const created_at = new Date('2026-01-31T09:00:00Z');
  const at = (hours: number) => new Date(created_at.getTime() + hours * 3_600_000);

  it('is retried for a day if a retry can help', () => {
    expect(isTriedAgain({ created_at }, down(), at(23.9))).toBe(true);
    expect(isTriedAgain({ created_at }, down(), at(24))).toBe(false);
    expect(isTriedAgain({ created_at }, down('nothing'), at(0))).toBe(false);
  });

  it('waits longer after each failure, up to 10 min', () => {
    const pauses = [0, 1, 2, 8, 9, 400].map((failures) => retryPauseMs(failures, down(), 0));
    expect(pauses).toEqual([2_000, 4_000, 8_000, 512_000, 600_000, 600_000]);
    expect(retryPauseMs(0, down(), 1)).toBe(2_500);
  });

  it('waits 5 min after each failure that an operator has to repair', () => {
    const pauses = [0, 5, 400].map((failures) => retryPauseMs(failures, down('operator'), 0));
    expect(pauses).toEqual([300_000, 300_000, 300_000]);
  });

  it('waits at least as long as the provider asks', () => {
    expect(retryPauseMs(0, down('time', 90_000), 0)).toBe(90_000);
    expect(retryPauseMs(0, down('time', 1_000), 0)).toBe(2_000);
  });
});
