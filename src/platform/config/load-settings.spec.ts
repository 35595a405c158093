import { exposureWarning } from './load-settings.js';

describe('exposureWarning', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', 'localhost'])(
    'does not warn about the loopback address %s',
    (host) => expect(exposureWarning({ host, trustProxy: [] })).toBeUndefined(),
  );

  it.each(['0.0.0.0', '::', '192.0.2.7', '2001:db8::7', 'soc.example.com'])(
    'warns about the address %s, unless TRUST_PROXY names a proxy',
    (host) => {
      const warning = exposureWarning({ host, trustProxy: [] });
      expect(warning).toContain(`HOST is ${host} and TRUST_PROXY is not set`);
      expect(exposureWarning({ host, trustProxy: ['10.0.0.0/8'] })).toBeUndefined();
    },
  );
});
