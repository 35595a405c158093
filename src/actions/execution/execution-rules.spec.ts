import { failed, pollPauseMs, resultOf, resultOfLoss } from './execution-rules.js';

describe('the result of a call', () => {
  it('is what the vendor said', () => {
    expect(resultOf({ kind: 'done', message: 'Done.', data: { id: 1 } })).toEqual({
      success: true,
      message: 'Done.',
      data: { id: 1 },
    });
    expect(resultOf({ kind: 'refused', message: 'No such host.', simulated: true })).toEqual({
      success: false,
      message: 'No such host.',
      code: 'refused',
      simulated: true,
    });
  });

  it.each([
    ['unreachable', false, false, 'unreachable'],
    ['unreachable', true, true, 'outcome_unknown'],
    ['stopped', false, true, 'interrupted'],
    ['timeout', false, false, 'interrupted'],
    ['timeout', true, true, 'timeout'],
    ['timeout', true, false, 'outcome_unknown'],
    ['broken', true, true, 'outcome_unknown'],
    ['broken', true, false, 'outcome_unknown'],
    ['stopped', true, false, 'outcome_unknown'],
  ] as const)(
    'of one that is %s (sent %s, idempotent %s) is %s',
    (kind, sent, idempotent, code) => {
      const result = resultOfLoss({ kind, message: 'x', sent, idempotent });
      expect([result.success, result.code]).toEqual([false, code]);
    },
  );

  it('holds no text that a database refuses, and no endless one', () => {
    expect(failed('refused', 'a\0b\ud800c').message).toBe('a\ufffdb\ufffdc');
    expect(failed('refused', 'x'.repeat(5_000)).message).toHaveLength(1_000);
    expect(failed('refused', `${'x'.repeat(999)}😀`).message.isWellFormed()).toBe(true);
  });
});

describe('the looks at an accepted operation', () => {
  it('come soon at first and never further apart than a quarter of a minute', () => {
    expect([0, 1, 2, 5, 50].map(pollPauseMs)).toEqual([500, 1_000, 2_000, 15_000, 15_000]);
  });
});
