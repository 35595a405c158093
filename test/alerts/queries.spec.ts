import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { promtool } from '../../scripts/alerts/promtool.js';
import { METRICS_TOKEN, Player } from '../support/examples/player.js';
import type { Scene } from '../support/examples/scene.js';
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

/** Selectors with labels in the alerts, except those of `up`, which Prometheus itself provides. */
const chosen = rules.groups
  .flatMap((group) => group.rules)
  .flatMap(({ expr }) => expr.match(/\b\w+\{[^}]+\}/g) ?? [])
  .filter((selector) => !selector.startsWith('up{'));

/** Nothing listens at this address, because an unreachable Redis is also a state that metrics must show. */
const SETTINGS = { REDIS_URL: 'redis://127.0.0.1:1' };

/** Scenes to play after the story, because the story deletes its channels and changes its connector. */
const AND_THEN: readonly Scene[] = [
  {
    by: 'admin',
    operation: 'createNotificationChannel',
    body: {
      name: 'watch',
      type: 'webhook',
      config: { url: 'https://hooks.example.com/incidents' },
    },
    status: 201,
  },
  ...SCENES.filter(({ operation }) => operation === 'testConnector'),
];

/** Scenes with a database. Without it, gauges that are read from the database are absent. */
const WITH_DATABASE = SCENES.slice(
  0,
  SCENES.findIndex(({ before }) => before === 'the database goes away'),
);

const selectorOf = ({ name, labels }: Sample): string => {
  const pairs = Object.entries({ ...labels, job: 'incident-triage', instance: 'test' });
  return `${name}{${pairs.map(([label, value]) => `${label}="${value}"`).join()}}`;
};

/** Returns true if the scrape includes the gauges that are read from the database. */
const isWhole = (samples: readonly Sample[]): boolean =>
  ['kill_switch_active', 'connector_up', 'audit_unsealed'].every((gauge) =>
    samples.some(({ name }) => name === gauge),
  );

describe('after all requests of the recorded examples', () => {
  const folder = mkdtempSync(join(tmpdir(), 'its-dashboard-'));
  let before: ReadonlyMap<string, number>;
  let after: readonly Sample[] = [];

  beforeAll(async () => {
    const player = await Player.start(SETTINGS);
    try {
      const first = await scrape(player.app, METRICS_TOKEN);
      before = new Map(first.map((sample) => [selectorOf(sample), sample.value]));
      // This test only plays the scenes. test/slow/examples.spec.ts compares their content.
      for (const scene of [...WITH_DATABASE, ...AND_THEN]) await player.play(scene);
      // Scrapes within a second share a read, and a scrape waits at most a second for the database.
      for (let looks = 0; looks < 10 && !isWhole(after); looks += 1) {
        await sleep(1_100);
        after = await scrape(player.app, METRICS_TOKEN);
      }
    } finally {
      await player.close();
    }
  }, 240_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Returns the scraped values of the series: one value from before the story, and one per minute after it. */
  const seriesIn = (expr: string) =>
    after
      .filter(({ name }) => expr.includes(name))
      .map((sample) => {
        const series = selectorOf(sample);
        return { series, values: `${before.get(series) ?? '_'} ${sample.value}x5` };
      });

  /**
   * Returns which series of the expression have no data, or `undefined` if all have data. A value that is not a number
   * is no data.
   */
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

  it.each([...new Set(chosen)])('the alerts find data for the series %s', (selector) => {
    expect(lackOfData(selector)).toBeUndefined();
  });
});
