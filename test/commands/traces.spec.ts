import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process.js';
import { OtlpCollector } from '../support/traces/otlp-collector.js';

const PROBE = join(__dirname, '../support/traces/loaded-modules.cjs');
const PATIENCE_MS = 120_000;

describe('a service with and without a collector', () => {
  let collector: OtlpCollector;

  beforeAll(async () => {
    collector = await OtlpCollector.start();
  });
  afterEach(() => ServiceProcess.endAll());
  afterAll(() => collector.stop());

  async function loadedWith(settings: Readonly<Record<string, string>>): Promise<string[]> {
    const options = { settings: { NODE_OPTIONS: `--require ${PROBE}`, ...settings } };
    const service = await ServiceProcess.start(options);
    await service.client.request('GET', '/health');
    expect(await service.stop()).toMatchObject({ code: 0 });
    expect(service.lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
    const line = await service.logged(/"msg":"loaded"/);
    return (JSON.parse(line) as { packages: string[] }).packages;
  }

  it(
    'loads nothing of OpenTelemetry when no collector is named',
    async () => {
      expect(await loadedWith({})).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'sends what is left before it ends',
    async () => {
      const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      expect(await loadedWith(settings)).toContain('sdk-trace');
      expect(collector.spans.map(({ name }) => name)).toContain('GET /health');
    },
    PATIENCE_MS,
  );

  it(
    'answers and stops when the collector hangs',
    async () => {
      collector.behaviour = 'hang';
      const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      expect(await loadedWith(settings)).toContain('sdk-trace');
    },
    PATIENCE_MS,
  );
});
