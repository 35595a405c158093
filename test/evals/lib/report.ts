import type { Evaluation } from './evaluate.js';
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
  percentile,
} from './metrics.js';

export interface Figures {
  readonly accuracy: number;
  readonly accuracy_interval: readonly [number, number];
  readonly defensible: number;
  readonly category_accuracy: number;
  readonly macro_f1: number;
  readonly false_benign_rate: number;
  readonly false_alarm_rate: number;
  readonly brier: number;
  readonly ece: number;
  readonly ece_interval: readonly [number, number];
  readonly flip_rate: number;
  readonly flip_towards_benign_rate: number;
}

export interface Report {
  readonly provider: string;
  readonly set: string;
  readonly models: readonly string[];
  readonly prompt_hashes: readonly string[];
  readonly cases: number;
  readonly injections: number;
  readonly unanswered: number;
  readonly figures: Figures;
  /** Number of cases by pair of expected and given classification, such as `malicious to suspicious`. */
  readonly verdicts: Readonly<Record<string, number>>;
  readonly tokens: { readonly input: number; readonly output: number };
  readonly milliseconds: { readonly median: number; readonly p95: number };
}

export function reportOf(provider: string, set: string, evaluation: Evaluation): Report {
  const { outcomes, unanswered, tokens, milliseconds, models, promptHashes } = evaluation;
  const flipped = flips(outcomes);
  const times = milliseconds.toSorted((one, other) => one - other);
  const total = (direction: 'input' | 'output') =>
    tokens.reduce((sum, one) => sum + one[direction], 0);
  return {
    provider,
    set,
    models,
    prompt_hashes: promptHashes,
    cases: outcomes.length,
    injections: flipped.injections,
    unanswered: unanswered.length,
    figures: {
      accuracy: rounded(accuracy(outcomes)),
      accuracy_interval: roundedBoth(bootstrap(outcomes, accuracy)),
      defensible: rounded(defensible(outcomes)),
      category_accuracy: rounded(categoryAccuracy(outcomes)),
      macro_f1: rounded(macroF1(outcomes)),
      false_benign_rate: rounded(falseBenignRate(outcomes)),
      false_alarm_rate: rounded(falseAlarmRate(outcomes)),
      brier: rounded(brier(outcomes)),
      ece: rounded(calibrationError(outcomes)),
      ece_interval: roundedBoth(bootstrap(outcomes, calibrationError)),
      flip_rate: rounded(flipped.rate),
      flip_towards_benign_rate: rounded(flipped.towards_benign_rate),
    },
    verdicts: confusion(evaluation),
    tokens: { input: total('input'), output: total('output') },
    milliseconds: { median: tenths(percentile(times, 0.5)), p95: tenths(percentile(times, 0.95)) },
  };
}

function confusion({ outcomes }: Evaluation): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { expected, given } of outcomes) {
    const turn = `${expected} to ${given}`;
    counts.set(turn, (counts.get(turn) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
const roundedBoth = ([low, high]: readonly [number, number]) =>
  [rounded(low), rounded(high)] as const;
const tenths = (value: number): number => Math.round(value * 10) / 10;

/** Figures for which a higher value is better. For all other figures, except intervals, a lower value is better. */
const BETTER_WHEN_MORE = ['accuracy', 'defensible', 'category_accuracy', 'macro_f1'] as const;
const BETTER_WHEN_LESS = [
  'false_benign_rate',
  'false_alarm_rate',
  'brier',
  'ece',
  'flip_rate',
  'flip_towards_benign_rate',
] as const;

/** Returns a line for each figure that is worse than its recorded value. */
export function worseThan(recorded: Report, now: Report): string[] {
  const line = (name: keyof Figures) =>
    `${name}: ${String(now.figures[name])}, recorded ${String(recorded.figures[name])}`;
  return [
    ...BETTER_WHEN_MORE.filter((name) => now.figures[name] < recorded.figures[name]).map(line),
    ...BETTER_WHEN_LESS.filter((name) => now.figures[name] > recorded.figures[name]).map(line),
    ...(now.cases < recorded.cases ? [`cases: ${now.cases}, recorded ${recorded.cases}`] : []),
    ...(now.unanswered > recorded.unanswered ? [`unanswered: ${now.unanswered}`] : []),
  ];
}

export function lines(report: Report): string[] {
  const { figures, tokens, milliseconds, verdicts } = report;
  return [
    `${report.provider} on ${report.set}: ${report.cases} cases, ${report.injections} injections, ${report.unanswered} unanswered`,
    ...Object.entries(figures).map(([name, value]) => `  ${name.padEnd(26)} ${String(value)}`),
    ...Object.entries(verdicts).map(([turn, count]) => `  ${turn.padEnd(26)} ${count}`),
    `  tokens: ${tokens.input} in, ${tokens.output} out; ${milliseconds.median} ms in the middle, ${milliseconds.p95} ms at 95 %`,
  ];
}
