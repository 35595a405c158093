import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { promtool } from '../../scripts/alerts/promtool.js';

const RULES = 'docker/prometheus/alerts.yml';
const TESTS = globSync('test/alerts/rules/*.yml').toSorted();

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string }[] }[];
}

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly unknown[];
    }[];
  }[];
}

const read = <T>(path: string): T => parse(readFileSync(path, 'utf8')) as T;

/** Returns the complaints of promtool, or an empty text if everything is valid. */
function complaintsOf(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(promtool(), args, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describe('the alerts', () => {
  it('are valid rules for Prometheus', () => {
    expect(complaintsOf('check', 'rules', '--lint=all', '--lint-fatal', RULES)).toBe('');
  });

  it('are loaded by a valid configuration of Prometheus', () => {
    // promtool does not check that the token file exists, because the deployment creates that file.
    const config = 'docker/prometheus/prometheus.yml';
    expect(complaintsOf('check', 'config', '--syntax-only', '--lint-fatal', config)).toBe('');
    expect(read<{ rule_files: unknown }>(config).rule_files).toEqual(['alerts.yml']);
  });

  it.each(TESTS)('fire only under their condition: %s', (path) => {
    expect(complaintsOf('test', 'rules', path)).toBe('');
  });

  const tried = TESTS.flatMap((path) => read<RuleTests>(path).tests).flatMap(
    ({ alert_rule_test }) => alert_rule_test,
  );
  const alerts = read<Rules>(RULES).groups.flatMap(({ rules }) => rules);

  it.each(alerts.map(({ alert }) => alert))(
    'have a test in which %s fires, and a test in which %s stays silent',
    (alert) => {
      const fired = tried.filter(({ alertname }) => alertname === alert);
      expect(fired.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(true);
      expect(fired.some(({ exp_alerts }) => exp_alerts.length === 0)).toBe(true);
    },
  );
});
