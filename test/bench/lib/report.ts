import type { Comparison } from './beside-bare.ts';
import type { ListCost } from './lists-by-size.ts';

const print = (...columns: (string | number)[]): void => {
  const [first, ...rest] = columns.map((column) =>
    typeof column === 'number' ? column.toFixed(2) : column,
  );
  process.stdout.write(`${first!.padEnd(58)}${rest.map((cell) => cell.padStart(11)).join('')}\n`);
};

export function printComparisons(comparisons: readonly Comparison[]): void {
  print(
    'beside the bare baseline',
    'req/s',
    'bare',
    'p50 ms',
    'bare',
    'p99 ms',
    'bare',
    'ratio',
    'goal',
  );
  for (const { what, service, bare, ratio, goal } of comparisons) {
    print(
      what,
      service.perSecond.toFixed(0),
      bare.perSecond.toFixed(0),
      service.p50,
      bare.p50,
      service.p99,
      bare.p99,
      ratio,
      `>= ${goal}`,
    );
  }
}

export function printListCosts(costs: readonly ListCost[]): void {
  print('lists by size, one client', 'few p50', 'many p50', 'few p99', 'many p99', 'ratio', 'goal');
  for (const { query, few, many, ratio, goal } of costs) {
    print(
      query || '(default)',
      few.p50,
      many.p50,
      few.p99,
      many.p99,
      ratio,
      goal ? `<= ${goal}` : '',
    );
  }
}
