import type { Connector } from '../../connectors/connector-type.js';
import type { Action } from '../action.js';
import {
  failed,
  recoveryStepOf,
  mayBegin,
  restMs,
  resultOf,
  resultOfLoss,
} from './execution-rules.js';

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
    ['unreachable', true, true, 'timeout'],
    ['stopped', false, true, 'interrupted'],
    ['timeout', false, false, 'interrupted'],
    ['timeout', true, true, 'timeout'],
    ['timeout', true, false, 'outcome_unknown'],
    ['broken', true, true, 'timeout'],
    ['broken', true, false, 'outcome_unknown'],
    ['stopped', true, false, 'outcome_unknown'],
  ] as const)(
    'is of a call that is %s (sent: %s, idempotent: %s) the failure %s',
    (kind, sent, idempotent, code) => {
      const result = resultOfLoss({ kind, message: 'x', sent, idempotent });
      expect([result.success, result.code]).toEqual([false, code]);
    },
  );

  it.each([
    ['timeout', 'timeout'],
    ['broken', 'unreachable'],
    ['unreachable', 'unreachable'],
    ['stopped', 'unreachable'],
  ] as const)('has of a look-up that is %s nothing to look up, but is %s', (kind, code) => {
    const loss = { kind, message: 'x', sent: true, idempotent: false, isLookUp: true };
    expect(resultOfLoss(loss)).toEqual({ success: false, message: 'x', code });
  });

  it('holds no text that a database refuses, and no endless one', () => {
    expect(failed('refused', 'a\0b\ud800c').message).toBe('a\ufffdb\ufffdc');
    expect(failed('refused', 'x'.repeat(5_000)).message).toHaveLength(1_000);
    expect(failed('refused', `${'x'.repeat(999)}😀`).message.isWellFormed()).toBe(true);
  });
});

describe('the rest before a vendor is asked again', () => {
  const now = new Date('2026-11-22T09:00:00Z');
  const after = (elapsedMs: number) => restMs(new Date(now.getTime() - elapsedMs), now, 900_000);

  it('is short at first and never longer than a quarter of a minute', () => {
    expect(restMs(undefined, now, 900_000)).toBe(500);
    expect([0, 900, 4_000, 30_000, 800_000].map(after)).toEqual([500, 500, 2_000, 15_000, 15_000]);
  });

  it('ends with the time that an action may take, after which there is none', () => {
    expect([899_900, 900_000, 2_000_000].map(after)).toEqual([100, 0, 0]);
  });
});

const left = (fields: Partial<Action>): Action =>
  ({
    action_type: 'block_ip',
    phase: 'claimed',
    sent: false,
    fence: 1,
    connector_id: 'c',
    ...fields,
  }) as Action;

const connector = ({ id = 'c', idempotent = false, probes = false } = {}): Connector =>
  ({
    identity: { id },
    idempotent: () => idempotent,
    ...(probes && { probe: () => undefined }),
  }) as unknown as Connector;

describe('what is done about a claim whose run died', () => {
  it.each([
    ['nothing sent, once only', {}, {}, 'give up'],
    ['nothing sent, once only, and the vendor could be asked', {}, { probes: true }, 'give up'],
    ['nothing sent, repeatable', {}, { idempotent: true }, 'repeat'],
    ['sent, once only', { sent: true }, {}, 'give up'],
    ['sent, repeatable', { sent: true }, { idempotent: true }, 'repeat'],
    ['sent, and the vendor can be asked', { sent: true }, { probes: true }, 'ask'],
    ['sent, repeatable, asked first', { sent: true }, { idempotent: true, probes: true }, 'ask'],
    ['the vendor is doing it', { phase: 'accepted', sent: true }, {}, 'ask'],
    ['the last run but one', { sent: true, fence: 4 }, { idempotent: true }, 'repeat'],
    ['the last run', { sent: true, fence: 5 }, { idempotent: true }, 'give up'],
    ['the last run, asked all the same', { sent: true, fence: 5 }, { probes: true }, 'ask'],
  ] as const)('for %s (action %j, connector %j) is to %s', (_, fields, at, fate) => {
    expect(recoveryStepOf(left(fields), connector(at))).toBe(fate);
  });

  it('is to give up when its connector is gone, whatever it was', () => {
    expect(recoveryStepOf(left({ phase: 'accepted', sent: true }), undefined)).toBe('give up');
  });
});

describe('an action that waits', () => {
  it.each([
    ['may begin', 'nobody has begun it', { fence: 0, connector_id: undefined }, {}, true],
    [
      'may begin',
      'nothing was sent, and another connector provides it by now',
      {},
      { id: 'other' },
      true,
    ],
    ['may not begin', 'nothing was sent in five runs', { fence: 5 }, { idempotent: true }, false],
    ['may begin', 'sent there, repeatable', { sent: true }, { idempotent: true }, true],
    ['may not begin', 'sent there, once only by now', { sent: true }, {}, false],
    [
      'may not begin',
      'sent to another one',
      { sent: true },
      { id: 'other', idempotent: true },
      false,
    ],
    [
      'may not begin',
      'sent there in five runs',
      { sent: true, fence: 5 },
      { idempotent: true },
      false,
    ],
  ] as const)('%s when %s', (_, __, fields, at, may) => {
    const action = left(fields);
    expect(mayBegin(action, connector(at))).toBe(may);
  });
});
