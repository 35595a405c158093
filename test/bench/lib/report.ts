import { type FlowCost, STAGES } from './flow.ts';
import type { Comparison, Kind } from './in-turns.ts';

type Cell = string | number | undefined;

function print(width: number, first: string, ...cells: Cell[]): void {
  const shown = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : (cell ?? '')));
  process.stdout.write(
    `${first.padEnd(width)}${shown.map((cell) => cell.padStart(10)).join('')}\n`,
  );
}

const whole = (number: number | undefined): Cell => number?.toFixed(0);

export function printComparisons(comparisons: readonly Comparison[]): void {
  const line = print.bind(undefined, 36);
  const head = ['p99 ms', 'bare', 'ratio', 'p50 ms', 'bare', 'ratio', 'req/s', 'bare', 'ratio'];
  line('beside the bare baseline', ...head, 'goal');
  for (const { what, service, bare, ratio, goal } of comparisons) {
    line(
      what,
      ...[service.p99, bare.p99, ratio.p99],
      ...[service.p50, bare.p50, ratio.p50],
      ...[whole(service.perSecond), whole(bare.perSecond), ratio.perSecond],
      goal && `>= ${goal}`,
    );
  }
  line('processor us per request', 'service', 'its PG', 'bare', 'its PG', 'sending');
  for (const comparison of comparisons) {
    const times = (['service', 'bare'] satisfies Kind[]).flatMap((kind) => {
      const { server, postgres } = comparison[kind].processor;
      return [whole(server), whole(postgres)];
    });
    line(comparison.what, ...times, whole(comparison.service.processor.generator));
  }
}

export function printFlowCost({ perSecond, alone, steady, ...cost }: FlowCost): void {
  const line = print.bind(undefined, 36);
  line('the whole flow', 'a second', 'alone p50', 'alone p95', 'steady p50', 'steady p95');
  for (const stage of STAGES) {
    const times = [alone[stage].p50, alone[stage].p95, steady[stage].p50, steady[stage].p95];
    line(`to ${stage}`, perSecond[stage], ...times.map(whole));
  }
  line('for each event', 'statements', 'commits', 'ms', 'its PG ms', 'MB at end');
  const { service, postgres } = cost.processorMs;
  line('', cost.statements, cost.commits, service, postgres, whole(cost.megabytes));
  for (const [name, count] of cost.most) line(`  ${name.slice(0, 90)}`.padEnd(94), count);
}
