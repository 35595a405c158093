import { ServiceProcess } from '../support/service-process.js';

describe('The start', () => {
  afterAll(() => ServiceProcess.endAll());

  it('logs the warnings about its settings, such as a HOST that is reachable without a proxy', async () => {
    // Because an external database requires SECRETS_KEY, the process ends before it listens.
    const DATABASE_URL = 'postgres://nobody:none@127.0.0.1:9/none';
    const service = new ServiceProcess({
      settings: { DATABASE_URL, SECRETS_KEY: '', HOST: '0.0.0.0' },
    });
    await service.exited;
    const warnings = service.lines.filter((line) => line.includes('TRUST_PROXY is not set'));
    expect(warnings.map((line) => JSON.parse(line).level)).toEqual([
      expect.stringMatching(/warn/i),
    ]);
  });
});
