import { type Load, load, median, type Shot } from './load.ts';
import type { ProcessorTime } from './processor-time.ts';
import type { Target } from './processes.ts';

export type Kind = 'service' | 'bare';
export type Pair<T> = Readonly<Record<Kind, T>>;

/** The same request to the service and to the baseline. */
export interface PairShot extends Omit<Shot, 'paths'> {
  readonly paths: Pair<readonly string[]>;
  /** The least ratio of throughput that is good. */
  readonly goal?: number;
  /** Looks at what the load has left behind, and throws when that is wrong. */
  readonly afterwards?: () => Promise<void>;
  /** Instead of the usual load, where no request may be sent twice. */
  readonly load?: (target: Target, paths: readonly string[], seconds: number) => Promise<Load>;
}

/** Of the service by the baseline: each the median of the rounds. */
export interface Ratio {
  readonly p99: number;
  readonly p50: number;
  readonly perSecond: number;
}

export interface Comparison {
  readonly what: string;
  readonly goal?: number;
  readonly ratio: Ratio;
  readonly service: Load;
  readonly bare: Load;
  readonly rounds: Pair<readonly Load[]>;
}

export interface Turns {
  readonly seconds: number;
  readonly rounds: number;
}

const WARM_UP_SECONDS = 2;
const NUMBERS = ['p99', 'p50', 'perSecond'] as const;

/** One after the other, and in each round the other one first. */
export async function inTurns(
  { paths, goal, afterwards, load: own, ...shot }: PairShot,
  targets: Pair<Target>,
  { rounds, seconds }: Turns,
): Promise<Comparison> {
  const fire = (kind: Kind, time: number) =>
    own
      ? own(targets[kind], paths[kind], time)
      : load(targets[kind], { ...shot, paths: paths[kind] }, time);
  const loads: Record<Kind, Load[]> = { service: [], bare: [] };
  for (const kind of ['bare', 'service'] as const) await fire(kind, WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['bare', 'service'] as const) : (['service', 'bare'] as const);
    for (const kind of order) loads[kind].push(await fire(kind, seconds));
  }
  await afterwards?.();
  return {
    what: shot.what,
    ...(goal !== undefined && { goal }),
    ratio: ofEach((number) =>
      median(loads.service.map((one, round) => one[number] / loads.bare[round]![number])),
    ),
    service: middle(loads.service),
    bare: middle(loads.bare),
    rounds: loads,
  };
}

function ofEach(value: (number: keyof Ratio) => number): Ratio {
  return Object.fromEntries(NUMBERS.map((number) => [number, value(number)])) as unknown as Ratio;
}

/** The median of each number. */
export function middle(loads: readonly Load[]): Load {
  const timeOf = (whose: keyof ProcessorTime) => {
    const times = loads.flatMap(({ processor }) => processor[whose] ?? []);
    return times.length > 0 ? { [whose]: median(times) } : {};
  };
  return {
    ...ofEach((number) => median(loads.map((one) => one[number]))),
    processor: { ...timeOf('server'), ...timeOf('postgres'), ...timeOf('generator') },
  };
}
