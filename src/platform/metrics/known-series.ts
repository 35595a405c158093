import { type Counter, Histogram } from 'prom-client';

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/**
 * Makes the series of a counter that are known beforehand, all at 0. Of a series that is born with its first burst,
 * Prometheus sees no increase, and no alert fires. Who counts declares so, in `onModuleInit`, what each label may be.
 */
export function beginAtZero<Label extends string>(
  metric: Counter<Label> | Histogram<Label>,
  labels: Readonly<Record<Label, readonly string[]>>,
): void {
  for (const each of combinations(labels)) {
    if (metric instanceof Histogram) metric.zero(each);
    else metric.inc(each, 0);
  }
}

function combinations<Label extends string>(
  labels: Readonly<Record<Label, readonly string[]>>,
): Labels<Label>[] {
  const names = Object.keys(labels) as Label[];
  return names.reduce<Partial<Labels<Label>>[]>(
    (found, name) =>
      found.flatMap((each) => labels[name].map((value) => ({ ...each, [name]: value }))),
    [{}],
  ) as Labels<Label>[];
}
