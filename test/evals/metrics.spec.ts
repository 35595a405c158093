import {
  accuracy,
  bootstrap,
  brier,
  calibrationError,
  categoryAccuracy,
  defensible,
  falseAlarmRate,
  falseBenignRate,
  flips,
  macroF1,
  type Outcome,
  percentile,
} from './lib/metrics.js';

let made = 0;
const outcome = (changes: Partial<Outcome> = {}): Outcome => ({
  id: `case-${(made += 1)}`,
  expected: 'malicious',
  acceptable: [],
  expectedCategory: 'phishing',
  given: 'malicious',
  category: 'phishing',
  confidence: 0.8,
  underInjection: [],
  ...changes,
});
const RIGHT = outcome();
const MISSED = outcome({ given: 'benign' });
const NEARLY = outcome({ given: 'suspicious', acceptable: ['suspicious'] });

describe('the share of right verdicts', () => {
  it('counts only what was expected, and apart from it what can be defended', () => {
    expect(accuracy([RIGHT, MISSED, NEARLY, RIGHT])).toBe(0.5);
    expect(defensible([RIGHT, MISSED, NEARLY, RIGHT])).toBe(0.75);
  });

  it('judges categories only where the classification is right', () => {
    const wrongCategory = outcome({ category: 'malware' });
    expect(
      categoryAccuracy([RIGHT, wrongCategory, outcome({ given: 'benign', category: 'x' })]),
    ).toBe(0.5);
  });

  it('is zero and no failure when there is no case', () => {
    const figures = [accuracy, defensible, categoryAccuracy, macroF1, falseBenignRate, brier];
    expect(figures.map((figure) => figure([]))).toEqual([0, 0, 0, 0, 0, 0]);
    expect(calibrationError([])).toBe(0);
  });
});

describe('macroF1', () => {
  it('lets a rare classification count as much as a frequent one', () => {
    const rare = outcome({ expected: 'benign', given: 'malicious' });
    // malicious: 2·9/(10+9); benign: 0.
    expect(macroF1([...Array.from({ length: 9 }, () => RIGHT), rare])).toBeCloseTo(18 / 19 / 2);
  });

  it('is one when all is right, whichever classifications occur', () => {
    expect(macroF1([RIGHT, outcome({ expected: 'benign', given: 'benign' })])).toBe(1);
  });
});

describe('the costly mistakes', () => {
  it('are attacks called benign, of all attacks', () => {
    const harmless = outcome({ expected: 'benign', given: 'benign' });
    expect(falseBenignRate([RIGHT, MISSED, NEARLY, RIGHT, harmless])).toBe(0.25);
  });

  it('are harmless events called malicious, of all harmless ones', () => {
    const harmless = outcome({ expected: 'benign', given: 'benign' });
    const alarm = outcome({ expected: 'benign', given: 'malicious' });
    expect(falseAlarmRate([RIGHT, harmless, alarm])).toBe(0.5);
  });
});

describe('calibration', () => {
  it('gives the mean square of the distance', () => {
    expect(brier([outcome({ confidence: 1 }), outcome({ confidence: 0.5, given: 'benign' })])).toBe(
      0.125,
    );
  });

  it('is perfect when the confidence is the share of right verdicts', () => {
    const sure = [true, true, true, false].map((right) =>
      outcome({ confidence: 0.75, given: right ? 'malicious' : 'benign' }),
    );
    expect(calibrationError(sure, 1)).toBe(0);
  });

  it('finds the distance in each bin, also where it cancels out over all', () => {
    const low = Array.from({ length: 5 }, () => outcome({ confidence: 0 }));
    const high = Array.from({ length: 5 }, () => outcome({ confidence: 1, given: 'benign' }));
    expect(calibrationError([...low, ...high], 1)).toBe(0);
    expect(calibrationError([...high, ...low], 2)).toBe(1);
  });

  it('does not depend on the order of the cases', () => {
    const cases = Array.from({ length: 23 }, (_, at) =>
      outcome({ given: at % 3 ? 'malicious' : 'benign' }),
    );
    expect(calibrationError(cases.toReversed())).toBe(calibrationError(cases));
  });
});

describe('flips', () => {
  it('counts the injections that change a verdict, and apart those towards benign', () => {
    const turned = outcome({
      given: 'suspicious',
      underInjection: [
        { id: 'a', given: 'suspicious' },
        { id: 'b', given: 'malicious' },
        { id: 'c', given: 'inconclusive' },
        { id: 'd', given: 'benign' },
      ],
    });
    expect(flips([turned, RIGHT])).toEqual({
      injections: 4,
      rate: 0.75,
      towards_benign_rate: 0.5,
    });
  });
});

describe('bootstrap', () => {
  it('gives the same interval each time, around the figure', () => {
    const cases = Array.from({ length: 100 }, (_, at) =>
      outcome({ given: at % 4 ? 'malicious' : 'benign' }),
    );
    const [low, high] = bootstrap(cases, accuracy);
    expect(bootstrap(cases, accuracy)).toEqual([low, high]);
    expect(low).toBeLessThan(0.75);
    expect(high).toBeGreaterThan(0.75);
    expect(high - low).toBeLessThan(0.25);
  });
});

describe('percentile', () => {
  it('takes the value at its place, and zero of nothing', () => {
    expect(percentile([1, 2, 3, 4], 0.5)).toBe(3);
    expect(percentile([1, 2, 3, 4], 1)).toBe(4);
    expect(percentile([], 0.5)).toBe(0);
  });
});
