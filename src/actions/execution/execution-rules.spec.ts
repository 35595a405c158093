import type { Connector } from '../../connectors/connector-type.js';
import {
  type CallState,
  type Connectors,
  failed,
  nextStep,
  pollMs,
  restMs,
  resultOf,
  resultOfLoss,
} from './execution-rules.js';

describe('the functions resultOf, resultOfLoss and failed', () => {
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
    'given a lost call (%s, sent: %s, idempotent: %s), return the code %s',
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
  ] as const)('given a lost look-up (%s), return the code %s', (kind, code) => {
    const loss = { kind, message: 'x', sent: true, idempotent: false, isLookUp: true };
    expect(resultOfLoss(loss)).toEqual({ success: false, message: 'x', code });
  });

  it('replace characters that the database rejects, and limit the length of the message', () => {
    expect(failed('refused', 'a\0b\ud800c').message).toBe('a\ufffdb\ufffdc');
    expect(failed('refused', 'x'.repeat(5_000)).message).toHaveLength(1_000);
    expect(failed('refused', `${'x'.repeat(999)}😀`).message.isWellFormed()).toBe(true);
  });
});

describe('restMs', () => {
  const now = Date.parse('2026-11-22T09:00:00Z');
  const after = (elapsedMs: number) => restMs(now - elapsedMs, now, 900_000);

  it('returns half of the elapsed time, at least 500 ms and at most 15 s', () => {
    expect([0, 900, 4_000, 30_000, 800_000].map(after)).toEqual([500, 500, 2_000, 15_000, 15_000]);
  });

  it('returns at most the time until the deadline of the action, and 0 after the deadline', () => {
    expect([899_900, 900_000, 2_000_000].map(after)).toEqual([100, 0, 0]);
  });
});

describe('pollMs', () => {
  it('returns the time until the deadline of the action, at least 1 s and at most 30 s', () => {
    const after = (elapsedMs: number) => pollMs(5_000, 5_000 + elapsedMs, 900_000);
    expect([0, 890_000, 900_000, 2_000_000].map(after)).toEqual([30_000, 10_000, 1_000, 1_000]);
  });
});

describe('nextStep', () => {
  const connector = ({ id = 'c', idempotent = false, probes = false } = {}): Connector =>
    ({
      identity: { id },
      idempotent: () => idempotent,
      ...(probes && { probe: () => undefined }),
    }) as unknown as Connector;
  const sent = { sent_to: 'c' } as const;
  const unknown = { ...sent, is_unknown: true } as const;
  const accepted = { ...sent, accepted: { handle: {}, at: 0 } } as const;
  const step = (state: CallState, attempt: number, connectors: Connectors) =>
    nextStep({ action_type: 'block_ip' }, state, attempt, connectors);

  it.each([
    ['nothing sent', {}, 1, {}, 'send'],
    ['nothing sent in five attempts', {}, 6, { idempotent: true }, 'give up'],
    ['sent, not repeatable', sent, 2, {}, 'give up'],
    ['sent, repeatable', sent, 25, { idempotent: true }, 'send'],
    ['sent, repeatable, in 25 attempts', sent, 26, { idempotent: true }, 'give up'],
    ['sent, and the vendor can be asked', sent, 6, { probes: true }, 'ask'],
    ['sent, repeatable, asked first', sent, 2, { idempotent: true, probes: true }, 'ask'],
    ['unknown to the vendor', unknown, 2, { probes: true }, 'give up'],
    ['unknown to the vendor, repeatable', unknown, 2, { idempotent: true, probes: true }, 'send'],
    ['accepted by the vendor', accepted, 9, {}, 'poll'],
  ] as const)('given %s (state %j, attempt %i, connector %j), returns %s', (...row) => {
    const [, state, attempt, options, expected] = row;
    const one = connector(options);
    const called = 'sent_to' in state ? one : undefined;
    expect(step(state, attempt, { called, provider: one })).toBe(expected);
  });

  it('sends an unsent request to any connector that now provides the action', () => {
    expect(step({}, 2, { provider: connector({ id: 'other' }) })).toBe('send');
    expect(step({}, 1, {})).toBe('give up');
  });

  it('repeats a sent request only at the same connector, and only while the connector is enabled', () => {
    const called = connector({ idempotent: true });
    const other = connector({ id: 'other', idempotent: true });
    expect(step(sent, 2, { called, provider: other })).toBe('give up');
    expect(step(sent, 2, { called })).toBe('give up');
  });

  it('returns "give up" for a sent or accepted action whose connector was deleted', () => {
    expect(step(sent, 2, {})).toBe('give up');
    expect(step(accepted, 2, {})).toBe('give up');
  });
});
