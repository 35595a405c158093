import { address, fields, secret } from '../../targets/target-config.js';
import { numberAt, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import { type VendorApi, vendorApi } from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  done,
} from '../connector-type.js';

const HASH = /^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** Looks up existing reports. Never uploads a file or URL, because other VirusTotal customers could see it. */
export const virusTotal = defineConnector({
  name: 'virustotal',
  description: 'VirusTotal: reputation of a URL, domain, address or file.',
  config: fields({
    base_url: address('Address of the VirusTotal API.', {
      default: 'https://www.virustotal.com/api/v3',
    }),
    api_key: secret('API key of the account.', { pattern: '^[A-Za-z0-9_-]+$', maxLength: 200 }),
  }),
  // A free key allows 500 requests per day: https://docs.virustotal.com/reference/public-vs-premium-api
  checkedEveryMs: 3_600_000,
  connect: ({ base_url, api_key }, outbound) => {
    const headers = { 'x-apikey': api_key };
    const api = vendorApi(outbound, { vendor: 'VirusTotal', baseUrl: base_url, headers });
    return (gate) => ({ api: api(gate), api_key });
  },
  actions: {
    lookup_url: lookUp(({ url }) => ['urls', Buffer.from(String(url)).toString('base64url')]),
    lookup_domain: lookUp(({ domain }) => ['domains', String(domain)]),
    lookup_ip: lookUp(({ ip }) => ['ip_addresses', String(ip)]),
    lookup_hash: lookUp(({ hash }) => {
      if (HASH.test(String(hash))) return ['files', String(hash).toLowerCase()];
      throw new RefusedError('The hash must be an MD5, SHA-1 or SHA-256.');
    }),
  },
  /** Reads the owner of the key. Any lookup would count against the daily quota. */
  test: async ({ api, api_key }) => {
    await api.ask({ path: ['users', api_key] }, (json) => textAt(json, 'data', 'id'));
    return 'VirusTotal accepts the key.';
  },
});

function lookUp(
  pathOf: (parameters: ActionCall['parameters']) => string[],
): ActionDefinition<{ readonly api: VendorApi }> {
  return {
    idempotent: true,
    send: async ({ api }, { parameters }) => {
      try {
        return await api.ask({ path: pathOf(parameters) }, reportIn);
      } catch (error) {
        // A 404 may also mean that `base_url` is wrong.
        const isUnknown =
          error instanceof RefusedError && error.status === 404 && error.code === 'NotFoundError';
        if (!isUnknown) throw error;
        const message = 'VirusTotal has no report. This does not mean that the value is harmless.';
        return done(message, { known: false });
      }
    },
  };
}

function reportIn(json: unknown) {
  const attributes = valueAt(json, 'data', 'attributes');
  const count = (name: string): number => numberAt(attributes, 'last_analysis_stats', name);
  const [malicious, suspicious] = [count('malicious'), count('suspicious')];
  const [harmless, undetected] = [count('harmless'), count('undetected')];
  const engines = malicious + suspicious + harmless + undetected;
  const reputation = valueAt(attributes, 'reputation');
  const analysed = valueAt(attributes, 'last_analysis_date');
  return done(`${malicious} of ${engines} engines rate it malicious, ${suspicious} suspicious.`, {
    ...{ known: true, malicious, suspicious, harmless, undetected },
    ...(typeof reputation === 'number' && { reputation }),
    ...(isTime(analysed) && { last_analysis_date: new Date(analysed * 1_000).toISOString() }),
  });
}

const isTime = (seconds: unknown): seconds is number =>
  typeof seconds === 'number' && Math.abs(seconds) <= 8.64e12;
