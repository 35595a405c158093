import { loadSettings } from '../../platform/config/load-settings.js';
import { OutboundHttp } from '../../platform/net/outbound-http.js';
import { Resolver, Targets } from '../../platform/net/targets.js';
import { anthropicModel } from './anthropic/anthropic-model.js';
import { NoModel } from './configured-model.js';

describe('NoModel', () => {
  it('gives no verdict and says what to configure', async () => {
    const model = new NoModel();
    expect(model.provider).toBe('none');
    await expect(model.judge()).rejects.toMatchObject({
      reason: 'not_configured',
      message: expect.stringContaining('TRIAGE_PROVIDER'),
      extras: { mayHelpLater: true, needsOperator: true },
    });
  });
});

describe('anthropicModel', () => {
  const make = (environment: Readonly<Record<string, string>>) => {
    const settings = loadSettings(environment);
    return anthropicModel(settings, new OutboundHttp(new Targets(new Resolver(), settings)));
  };
  const KEY = 'key-that-nobody-may-see';

  it.each(['http://127.0.0.1:4000', 'http://model.internal', 'https://api.example.com'])(
    'takes the address %s',
    (url) =>
      expect(
        make({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url, ANTHROPIC_MODEL: 'm' }),
      ).toMatchObject({ provider: 'anthropic', configuredModel: 'm' }),
  );

  it('stops the start without a key', () => {
    expect(() => make({})).toThrow(/^TRIAGE_PROVIDER=anthropic requires ANTHROPIC_API_KEY\.$/);
  });
});
