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

describe('resultOf, resultOfLoss and failed', () => {
  it('return the outcome that the vendor reported', () => {
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
    'given a loss of kind %s (sent: %s, idempotent: %s), return the code %s',
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
  ] as const)('given the loss of a look-up of kind %s, return the code %s', (kind, code) => {
    const loss = { kind, message: 'x', sent: true, idempotent: false, isLookUp: true };
    expect(resultOfLoss(loss)).toEqual({ success: false, message: 'x', code });
  });

  it('replace characters that the database rejects, and limit the length of a message', () => {
    expect(failed('refused', 'a\0b\ud800c').message).toBe('a\ufffdb\ufffdc');
    expect(failed('refused', 'x'.repeat(5_000)).message).toHaveLength(1_000);
    expect(failed('refused', `${'x'.repeat(999)}😀`).message.isWellFormed()).toBe(true);
  });
});

describe('restMs', () => {
  const now = new Date('2026-11-22T09:00:00Z');
  const after = (elapsedMs: number) => restMs(new Date(now.getTime() - elapsedMs), now, 900_000);

  it('returns 500 ms at first and at most 15 s', () => {
    expect(restMs(undefined, now, 900_000)).toBe(500);
    expect([0, 900, 4_000, 30_000, 800_000].map(after)).toEqual([500, 500, 2_000, 15_000, 15_000]);
  });

  it('returns the time until the deadline of the action, and 0 after it', () => {
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

describe('recoveryStepOf', () => {
  it.each([
    ['nothing sent, not repeatable', {}, {}, 'give up'],
    ['nothing sent, not repeatable, and the vendor can be asked', {}, { probes: true }, 'give up'],
    ['nothing sent, repeatable', {}, { idempotent: true }, 'repeat'],
    ['sent, not repeatable', { sent: true }, {}, 'give up'],
    ['sent, repeatable', { sent: true }, { idempotent: true }, 'repeat'],
    ['sent, and the vendor can be asked', { sent: true }, { probes: true }, 'ask'],
    ['sent, repeatable, asked first', { sent: true }, { idempotent: true, probes: true }, 'ask'],
    ['accepted by the vendor', { phase: 'accepted', sent: true }, {}, 'ask'],
    ['one run left', { sent: true, fence: 4 }, { idempotent: true }, 'repeat'],
    ['no run left', { sent: true, fence: 5 }, { idempotent: true }, 'give up'],
    ['no run left, but the vendor can be asked', { sent: true, fence: 5 }, { probes: true }, 'ask'],
  ] as const)('given %s (action %j, connector %j), returns %s', (_, fields, at, step) => {
    expect(recoveryStepOf(left(fields), connector(at))).toBe(step);
  });

  it('returns give up if the connector is deleted', () => {
    expect(recoveryStepOf(left({ phase: 'accepted', sent: true }), undefined)).toBe('give up');
  });
});

describe('mayBegin', () => {
  it.each([
    ['may begin', 'it was never begun', { fence: 0, connector_id: undefined }, {}, true],
    [
      'may begin',
      'nothing was sent, and another connector provides it now',
      {},
      { id: 'other' },
      true,
    ],
    ['may not begin', 'nothing was sent in five runs', { fence: 5 }, { idempotent: true }, false],
    [
      'may begin',
      'sent to the same connector, repeatable',
      { sent: true },
      { idempotent: true },
      true,
    ],
    ['may not begin', 'sent to the same connector, not repeatable now', { sent: true }, {}, false],
    [
      'may not begin',
      'sent to another connector',
      { sent: true },
      { id: 'other', idempotent: true },
      false,
    ],
    [
      'may not begin',
      'sent to the same connector in five runs',
      { sent: true, fence: 5 },
      { idempotent: true },
      false,
    ],
  ] as const)('%s when %s', (_, __, fields, at, may) => {
    const action = left(fields);
    expect(mayBegin(action, connector(at))).toBe(may);
  });
});
