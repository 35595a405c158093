import { isWithin, numberRange } from './number-range.js';

describe('numberRange', () => {
  it.each([
    ['0-39', { from: 0, to: 39 }],
    [' 1.5 - 2.25 ', { from: 1.5, to: 2.25 }],
    ['80-', { from: 80, to: Infinity }],
    ['7', { from: 7, to: 7 }],
    ['39-0', { from: 39, to: 0 }],
  ])('reads %j', (text, range) => expect(numberRange(text)).toEqual(range));

  it.each(['', 'high', '-5', '1-2-3', '1--2', '1e3', '.5', '5.', '１-２', '9'.repeat(21), '0x10'])(
    'finds none in %j',
    (text) => expect(numberRange(text)).toBeUndefined(),
  );

  it('has both of its ends', () => {
    const range = { from: 1, to: 2.5 };
    expect([0.99, 1, 2.5, 2.51].map((value) => isWithin(range, value))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
