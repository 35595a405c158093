import { ModelUnavailableError } from '../model/triage-model.port.js';
import { isTriedAgain, retryPauseMs, stillAnswers, whyNotApplied } from './run-rules.js';

const down = (extras: Partial<ModelUnavailableError['extras']> = {}) =>
  new ModelUnavailableError('unreachable', 'It does not answer.', {
    mayHelpLater: true,
    ...extras,
  });

describe('a verdict of a run', () => {
  it.each([
    ['open', false, false, undefined],
    ['triaged', false, false, undefined],
    ['triaged', true, false, 'verdict_by_person'],
    ['triaged', true, true, undefined],
    ['resolved', false, false, 'incident_resolved'],
    ['resolved', true, false, 'verdict_by_person'],
    ['resolved', true, true, undefined],
  ] as const)(
    'of an incident that is %s (decided by a person: %s, force: %s) is kept back for: %s',
    (status, verdict_by_person, force, reason) => {
      expect(whyNotApplied({ status, verdict_by_person }, { force })).toBe(reason);
    },
  );
});

describe('a completed run', () => {
  it.each([
    ['triaged', undefined, true],
    ['open', undefined, true],
    ['triaged', 'verdict_by_person', true],
    ['resolved', 'incident_resolved', true],
    ['open', 'incident_resolved', false],
    ['triaged', 'incident_resolved', false],
  ] as const)(
    'of an incident that is %s, kept back for %s, answers a request: %s',
    (status, not_applied, answers) => {
      expect(stillAnswers({ not_applied: not_applied ?? null }, status)).toBe(answers);
    },
  );
});

describe('a run that nobody waits for', () => {
  const created_at = new Date('2026-01-31T09:00:00Z');
  const at = (hours: number) => new Date(created_at.getTime() + hours * 3_600_000);

  it('is tried again for a day if a retry can help', () => {
    expect(isTriedAgain({ created_at }, down(), at(23.9))).toBe(true);
    expect(isTriedAgain({ created_at }, down(), at(24))).toBe(false);
    expect(isTriedAgain({ created_at }, down({ mayHelpLater: false }), at(0))).toBe(false);
  });

  it('waits longer after each failure, up to 10 min', () => {
    const pauses = [0, 1, 2, 8, 9, 400].map((failures) => retryPauseMs(failures, down(), 0));
    expect(pauses).toEqual([2_000, 4_000, 8_000, 512_000, 600_000, 600_000]);
    expect(retryPauseMs(0, down(), 1)).toBe(2_500);
  });

  it('waits 5 min after each failure that an operator has to repair', () => {
    const mend = down({ needsOperator: true });
    expect([0, 5, 400].map((failures) => retryPauseMs(failures, mend, 0))).toEqual([
      300_000, 300_000, 300_000,
    ]);
  });

  it('waits as long as the provider asks for, up to an hour', () => {
    expect(retryPauseMs(0, down({ retryAfterMs: 90_000 }), 0)).toBe(90_000);
    expect(retryPauseMs(0, down({ retryAfterMs: 1_000 }), 0)).toBe(2_000);
    expect(retryPauseMs(0, down({ retryAfterMs: 1e12 }), 0)).toBe(3_600_000);
    expect(retryPauseMs(0, down({ retryAfterMs: Number.NaN }), 0)).toBe(2_000);
    expect(retryPauseMs(0, down({ retryAfterMs: -1e12 }), 0)).toBe(2_000);
  });
});
