import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { promtool } from '../../scripts/alerts/promtool.js';
import { NEW_CHANNEL_EXAMPLE, SECRET_EXAMPLE } from '../../src/notifications/channel-example.js';
import { Player } from '../support/examples/player.js';
import { by, unshown } from '../support/examples/scene.js';
import { SCENES } from '../support/examples/story.js';
import { type Sample, scrape } from '../support/metrics.js';

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}

const { panels } = JSON.parse(
  readFileSync('docker/grafana/dashboards/incident-triage.json', 'utf8'),
) as { panels: readonly Panel[] };

const queries = panels.flatMap(({ title, targets }) =>
  targets.map(({ refId, expr }) => ({
    name: `${title} ${refId}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  })),
);

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
}

const rules = parse(readFileSync('docker/prometheus/alerts.yml', 'utf8')) as Rules;

/** The series that alerts choose by their labels; `up` is Prometheus' own. */
const chosen = rules.groups
  .flatMap((group) => group.rules)
  .flatMap(({ expr }) => expr.match(/\b\w+\{[^}]+\}/g) ?? [])
  .filter((selector) => !selector.startsWith('up{'));

/** Where nobody listens: a Redis that is away is data, too. */
const SETTINGS = { REDIS_URL: 'redis://127.0.0.1:1' };

/** The story deletes the channels that it makes, and changes its connector. */
const AND_THEN = [
  unshown('admin', 'createNotificationChannel', {
    body: {
      ...NEW_CHANNEL_EXAMPLE,
      name: 'watch',
      config: { ...NEW_CHANNEL_EXAMPLE.config, secret: SECRET_EXAMPLE },
    },
    status: 201,
  }),
  ...by('admin')('testConnector', 'answers'),
];

const selectorOf = ({ name, labels }: Sample): string => {
  const pairs = Object.entries({ ...labels, job: 'incident-triage', instance: 'test' });
  return `${name}{${pairs.map(([label, value]) => `${label}="${value}"`).join()}}`;
};

describe('after the story of the examples', () => {
  const folder = mkdtempSync(join(tmpdir(), 'its-dashboard-'));
  let before: ReadonlyMap<string, number>;
  let after: readonly Sample[];

  beforeAll(async () => {
    const player = await Player.start(undefined, SETTINGS);
    try {
      const first = await scrape(player.app);
      before = new Map(first.map((sample) => [selectorOf(sample), sample.value]));
      // Whether all is as it is shown is for test/slow/examples.spec.ts.
      for (const scene of [...SCENES, ...AND_THEN]) await player.play(scene);
      // Scrapes within a second share one look.
      await sleep(1_100);
      after = await scrape(player.app);
    } finally {
      await player.close();
    }
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  /** What Prometheus would have scraped: once before the story, and every minute after it. */
  const seriesIn = (expr: string) =>
    after
      .filter(({ name }) => expr.includes(name))
      .map((sample) => {
        const series = selectorOf(sample);
        return { series, values: `${before.get(series) ?? '_'} ${sample.value}x5` };
      });

  /** Undefined when there is some. What is no number is no data. */
  const lackOfData = (expr: string): string | undefined => {
    const path = join(folder, 'query.yml');
    const query = {
      expr: `clamp_max(count((${expr}) == (${expr})), 1)`,
      eval_time: '4m',
      exp_samples: [{ labels: '{}', value: 1 }],
    };
    const test = { interval: '1m', input_series: seriesIn(expr), promql_expr_test: [query] };
    writeFileSync(path, stringify({ tests: [test] }));
    const { status, stdout, stderr } = spawnSync(promtool(), ['test', 'rules', path], {
      encoding: 'utf8',
    });
    return status === 0 ? undefined : `${stdout}${stderr}`;
  };

  it.each(queries)('the dashboard shows data: $name', ({ expr }) => {
    expect(lackOfData(expr)).toBeUndefined();
  });

  it.each([...new Set(chosen)])('the alerts find the series %s', (selector) => {
    expect(lackOfData(selector)).toBeUndefined();
  });
});
