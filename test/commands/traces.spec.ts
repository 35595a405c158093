import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process.js';
import { createTestDatabase } from '../support/test-database.js';
import { OtlpCollector } from '../support/traces/otlp-collector.js';
import { useStarted } from '../support/use-started.js';

const PROBE = join(__dirname, '../support/traces/loaded-modules.cjs');

describe('a service and its trace collector', () => {
  const collector = useStarted(() => OtlpCollector.start());
  const database = useStarted(() => createTestDatabase());
  afterEach(() => ServiceProcess.endAll());

  async function loadedWith(settings: Readonly<Record<string, string>>): Promise<string[]> {
    const environment = { DATABASE_URL: database.url, NODE_OPTIONS: `--require ${PROBE}` };
    const service = await ServiceProcess.start({ settings: { ...environment, ...settings } });
    await service.client.get('/health');
    expect(await service.stop()).toMatchObject({ code: 0 });
    expect(service.lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
    const line = await service.logged(/"msg":"loaded"/);
    return (JSON.parse(line) as { packages: string[] }).packages;
  }

  it('loads no module of OpenTelemetry without a collector', async () => {
    expect(await loadedWith({})).toEqual([]);
  });

  it('sends the remaining spans before it exits, and exits even if the collector hangs', async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    expect(await loadedWith(settings)).toContain('sdk-trace');
    expect(collector.spans.map(({ name }) => name)).toContain('GET /health');
    collector.behaviour = 'hang';
    expect(await loadedWith(settings)).toContain('sdk-trace');
  });
});
