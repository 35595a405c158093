import { originOf } from './authentication.js';

interface Given {
  readonly secFetchSite?: string;
  readonly origin?: string;
  readonly protocol?: 'http' | 'https';
  readonly host?: string;
}

describe('originOf', () => {
  it.each<[Given, string]>([
    [{ secFetchSite: 'same-origin' }, 'same'],
    [{ secFetchSite: 'none' }, 'same'],
    [{ secFetchSite: 'same-site' }, 'other'],
    [{ secFetchSite: 'cross-site' }, 'other'],
    [{ secFetchSite: '' }, 'other'],
    [{ secFetchSite: 'cross-site', origin: 'https://triage.example' }, 'other'],
    [{ origin: 'https://triage.example' }, 'same'],
    [{ origin: 'https://triage.example:443' }, 'same'],
    [{ origin: 'https://TRIAGE.example' }, 'same'],
    [{ origin: 'http://triage.example' }, 'other'],
    [{ origin: 'http://triage.example', protocol: 'http' }, 'same'],
    // An untrusted proxy ends TLS, so the service sees http although the browser uses https.
    [{ origin: 'https://triage.example', protocol: 'http' }, 'same'],
    [{ origin: 'https://triage.example:8443' }, 'other'],
    [{ origin: 'https://triage.example:8443', host: 'triage.example:8443' }, 'same'],
    [{ origin: 'https://evil.triage.example' }, 'other'],
    [{ origin: 'https://triage.example.evil' }, 'other'],
    [{ origin: 'null' }, 'other'],
    [{ origin: '' }, 'other'],
    [{}, 'unknown'],
  ])(
    'classifies a request with %j as %s',
    ({ protocol = 'https', host = 'triage.example', secFetchSite, origin }, verdict) => {
      const headers = { 'sec-fetch-site': secFetchSite, origin };
      expect(originOf({ protocol, host, headers })).toBe(verdict);
    },
  );
});
