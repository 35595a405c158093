import { ServiceProcess } from '../support/service-process.js';

/** It ends before it listens anywhere, because there is no such database. */
async function logOf(settings: Readonly<Record<string, string>>): Promise<string[]> {
  const service = new ServiceProcess({
    settings: {
      DATABASE_URL: 'postgres://nobody:none@127.0.0.1:9/none',
      DATABASE_WAIT_MS: '0',
      ...settings,
    },
  });
  await service.exited;
  return service.lines;
}

describe('The start', () => {
  afterAll(() => ServiceProcess.endAll());

  it('warns in one line of a HOST that others reach while no proxy is named', async () => {
    const lines = await logOf({ HOST: '0.0.0.0' });
    const warnings = lines.filter((line) => line.includes('TRUST_PROXY is not set'));
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0]!)).toMatchObject({ level: expect.stringMatching(/warn/i) });
  });

  it('has nothing to warn of on the loopback, or with a proxy', async () => {
    const settings: Record<string, string>[] = [{}, { HOST: '0.0.0.0', TRUST_PROXY: '10.0.0.0/8' }];
    for (const given of settings) {
      expect((await logOf(given)).join('\n')).not.toContain('TRUST_PROXY');
    }
  });
});
