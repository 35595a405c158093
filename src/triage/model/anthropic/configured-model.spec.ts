import { loadSettings } from '../../../platform/config/load-settings.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { Resolver, Targets } from '../../../platform/net/targets.js';
import { configuredModel } from './configured-model.js';

describe('configuredModel', () => {
  const make = (environment: Readonly<Record<string, string>>) => {
    const settings = loadSettings(environment);
    return configuredModel(settings, new OutboundHttp(new Targets(new Resolver(), settings)));
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
