import { globSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { declaredSettings } from '../../src/config/setting.js';
import '../../src/config/settings.js';

/** What /metrics offers, as operators know it; `up` is Prometheus' own. */
const METRICS = [
  'actions_executed_total',
  'approval_wait_seconds',
  'approvals_pending',
  'connector_up',
  'db_pool_connections_active',
  'http_request_duration_seconds',
  'http_requests_in_flight',
  'http_requests_total',
  'incidents_total',
  'jobs_waiting',
  'kill_switch_active',
  'llm_tokens_total',
  'triage_duration_seconds',
  'up',
  'webhook_errors_total',
  'webhook_received_total',
];

const NAME = /\b([a-z]\w*?)(?:_bucket|_sum|_count)?(?=\{|\[|\s*(?:\)|==|>|$))/g;
const FUNCTIONS_AND_LABELS = new Set(['by', 'le', 'and']);

const yamlFiles = globSync('docker/**/*.{yml,yaml}');

function documentsOf(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

/** Every value under one of the keys, however deep. */
function valuesUnder(keys: readonly string[], value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    keys.includes(key) && typeof child === 'string' ? [child] : valuesUnder(keys, child),
  );
}

const metricsIn = (expression: string): string[] =>
  [...expression.replace(/by \([^)]*\)/g, '').matchAll(NAME)]
    .map(([, name]) => name ?? '')
    .filter((name) => !FUNCTIONS_AND_LABELS.has(name));

describe('the deployment files', () => {
  it.each(yamlFiles)('%s is YAML', (file) => {
    expect(documentsOf(file).length).toBeGreaterThan(0);
  });

  it('ask only for metrics that the service offers', () => {
    const dashboard: unknown = JSON.parse(
      readFileSync('docker/grafana/dashboards/incident-triage.json', 'utf8'),
    );
    const alerts = documentsOf('docker/prometheus/alerts.yml');
    const expressions = [...valuesUnder(['expr'], dashboard), ...valuesUnder(['expr'], alerts)];
    const used = new Set(expressions.flatMap(metricsIn));
    expect([...used].filter((name) => !METRICS.includes(name))).toEqual([]);
    expect(METRICS.filter((name) => !used.has(name))).toEqual([]);
  });

  it('set only settings that exist', () => {
    const known = new Set(declaredSettings().map(({ variable }) => variable));
    const [compose] = documentsOf('docker/compose.yaml') as [
      { services: { service: { environment: Record<string, string> } } },
    ];
    const unknown = Object.keys(compose.services.service.environment).filter(
      (variable) => !known.has(variable),
    );
    expect(unknown).toEqual([]);
  });

  it('hold no secret: each is demanded from the environment', () => {
    const text = readFileSync('docker/compose.yaml', 'utf8');
    const secrets = text.match(/^.*(PASSWORD|SECRETS_KEY|TOKEN|API_KEY):.*$/gm) ?? [];
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.filter((line) => !/\$\{\w+:[?-]/.test(line))).toEqual([]);
  });

  it('list in the example every variable that compose demands', () => {
    const demanded = readFileSync('docker/compose.yaml', 'utf8').matchAll(/\$\{(\w+)/g);
    const example = readFileSync('docker/compose.env.example', 'utf8');
    const missing = [...demanded].filter(([, name]) => !example.includes(`\n${name}=`));
    expect(missing.map(([, name]) => name)).toEqual([]);
  });
});
