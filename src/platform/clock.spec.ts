/** @jest-environment-options {"ownModules": true} */
import { Clock, clockAheadMs, learnTime, presentTime } from './clock.js';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const HOUR = 3_600_000;

describe('presentTime', () => {
  let wall = NOON;
  let monotonic = 1_000;

  beforeEach(() => {
    jest.spyOn(Date, 'now').mockImplementation(() => wall);
    jest.spyOn(performance, 'now').mockImplementation(() => monotonic);
  });
  afterEach(() => jest.restoreAllMocks());

  const pass = (ms: number): void => {
    wall += ms;
    monotonic += ms;
  };
  /** Simulates a machine clock that is `aheadMs` ahead of the database clock. The measurement takes `ms`. */
  const measure = (aheadMs: number, ms = 2): void => {
    const asked = wall;
    pass(ms);
    learnTime({ asked, told: asked + ms / 2 - aheadMs, answered: wall });
  };

  it('is the machine time before the first measurement', () => {
    expect([presentTime(), clockAheadMs()]).toEqual([NOON, undefined]);
  });

  it('is the machine time while both clocks may agree', () => {
    measure(0);
    expect([presentTime(), clockAheadMs()]).toEqual([wall, 0]);
    measure(900, 2_000);
    expect([presentTime(), clockAheadMs()]).toEqual([wall, 0]);
  });

  it.each([HOUR, -HOUR, 1_500])('is the database time if the machine is %d ms ahead', (ms) => {
    measure(ms);
    expect(Math.abs(presentTime() - (wall - ms))).toBeLessThanOrEqual(1);
    pass(500);
    expect(new Clock().now()).toEqual(new Date(presentTime()));
    expect(Math.abs(presentTime() - (wall - ms))).toBeLessThanOrEqual(1);
  });

  it('keeps a precise measurement if the next measurement is slow', () => {
    measure(HOUR);
    const found = clockAheadMs();
    measure(HOUR + 300, 2_000);
    expect(clockAheadMs()).toBe(found);
  });

  it('continues without a jump when somebody sets the machine clock', () => {
    measure(0);
    const before = presentTime();
    wall += HOUR;
    pass(250);
    expect(presentTime() - before).toBe(250);
    wall -= 3 * HOUR;
    expect(presentTime() - before).toBe(250);
    measure(-2 * HOUR);
    expect(Math.abs(presentTime() - before - 252)).toBeLessThanOrEqual(1);
  });

  it('follows small corrections of the clock', () => {
    measure(0);
    wall += 40;
    expect(presentTime()).toBe(wall);
  });

  it('discards an old measurement', () => {
    measure(0);
    pass(60_000);
    expect([clockAheadMs(60_000), clockAheadMs(59_999)]).toEqual([0, undefined]);
  });
});
