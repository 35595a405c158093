import { exposureWarning } from './load-settings.js';

describe('the warning of a service that others reach', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', 'localhost'])(
    'says nothing of %s, which only this machine reaches',
    (host) => expect(exposureWarning({ host, trustProxy: [] })).toBeUndefined(),
  );

  it.each(['0.0.0.0', '::', '192.0.2.7', '2001:db8::7', 'soc.example.com'])(
    'says of %s that no proxy is named, unless TRUST_PROXY names one',
    (host) => {
      const warning = exposureWarning({ host, trustProxy: [] });
      expect(warning).toContain(`HOST is ${host} and TRUST_PROXY is not set`);
      expect(exposureWarning({ host, trustProxy: ['10.0.0.0/8'] })).toBeUndefined();
    },
  );
});
