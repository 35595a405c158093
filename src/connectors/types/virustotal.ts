import { address, fields, secret } from '../../targets/target-config.js';
import { numberAt, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import { fixedCredentials, VendorApi } from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  type Outcome,
  TEST_TIMEOUT_MS,
} from '../connector-type.js';

/** A free key has 500 requests per day and 4 per minute: https://docs.virustotal.com/reference/public-vs-premium-api */
const CHECKED_EVERY_MS = 3_600_000;
/** MD5, SHA-1 or SHA-256. */
const HASH = /^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;

interface VirusTotal {
  readonly api: VendorApi;
  readonly api_key: string;
}

/** Looks up existing reports. It never uploads a file or URL for analysis, because other customers could see it. */
export const virusTotal = defineConnector({
  name: 'virustotal',
  description: 'VirusTotal: reputation of a URL, domain, address or file.',
  config: fields(
    {
      base_url: address('Address of the VirusTotal API.', {
        minLength: 8,
        default: 'https://www.virustotal.com/api/v3',
      }),
      api_key: secret('API key of the account.', { pattern: '^[A-Za-z0-9_-]+$', maxLength: 200 }),
    },
    ['api_key'],
  ),
  destinations: [{ address: 'base_url' }],
  checkedEveryMs: CHECKED_EVERY_MS,
  connect: ({ base_url: baseUrl, api_key }, outbound) => {
    const api = new VendorApi(outbound, {
      vendor: 'VirusTotal',
      baseUrl,
      credentials: fixedCredentials({ 'x-apikey': api_key }),
      secrets: [api_key],
      complaintIn,
      codeIn,
    });
    return { api, api_key };
  },
  actions: {
    // The id of a URL is the URL in base64url.
    lookup_url: lookUp(({ url }) => ['urls', Buffer.from(String(url)).toString('base64url')]),
    lookup_domain: lookUp(({ domain }) => ['domains', String(domain)]),
    lookup_ip: lookUp(({ ip }) => ['ip_addresses', String(ip)]),
    lookup_hash: lookUp(({ hash }) => {
      if (HASH.test(String(hash))) return ['files', String(hash).toLowerCase()];
      throw new RefusedError('The hash must be an MD5, SHA-1 or SHA-256.');
    }),
  },
  /** Reads the owner of the key, because a look-up would count against the daily quota. */
  test: async ({ api, api_key }) => {
    const request = {
      method: 'GET',
      path: ['users', api_key],
      timeoutMs: TEST_TIMEOUT_MS,
    } as const;
    await api.ask(undefined, request, (json) => textAt(json, 'data', 'id'));
    return 'VirusTotal accepts the key.';
  },
});

const NO_REPORT: Outcome = {
  kind: 'done',
  message: 'VirusTotal has no report. This does not mean that it is harmless.',
  data: { known: false },
};

function lookUp(
  pathOf: (parameters: ActionCall['parameters']) => string[],
): ActionDefinition<VirusTotal> {
  return {
    idempotent: true,
    send: async ({ api }, { parameters }, gate) => {
      const request = { method: 'GET', path: pathOf(parameters) } as const;
      try {
        return await api.ask(gate, request, reportIn);
      } catch (error) {
        // A 404 may also come from a wrong `base_url`.
        if (!(error instanceof RefusedError) || error.code !== 'NotFoundError') throw error;
        if (error.status !== 404) throw error;
        return NO_REPORT;
      }
    },
  };
}

/** Extracts the counts of the engines from a report. */
function reportIn(json: unknown): Outcome {
  const count = (name: string): number =>
    numberAt(json, 'data', 'attributes', 'last_analysis_stats', name);
  const [malicious, suspicious] = [count('malicious'), count('suspicious')];
  const [harmless, undetected] = [count('harmless'), count('undetected')];
  const engines = malicious + suspicious + harmless + undetected;
  const reputation = valueAt(json, 'data', 'attributes', 'reputation');
  const analysed = valueAt(json, 'data', 'attributes', 'last_analysis_date');
  return {
    kind: 'done',
    message: `${malicious} of ${engines} engines rate it malicious, ${suspicious} suspicious.`,
    data: {
      ...{ known: true, malicious, suspicious, harmless, undetected },
      ...(typeof reputation === 'number' && { reputation }),
      ...(typeof analysed === 'number' && { last_analysis_date: timeOf(analysed) }),
    },
  };
}

/** `undefined` for a time out of range. */
function timeOf(seconds: number): string | undefined {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** https://docs.virustotal.com/reference/errors */
function complaintIn(json: unknown): string | undefined {
  if (valueAt(json, 'error', 'code') === undefined) return undefined;
  const message = valueAt(json, 'error', 'message');
  return [codeIn(json), message].filter((word) => typeof word === 'string').join(': ');
}

function codeIn(json: unknown): string | undefined {
  const code = valueAt(json, 'error', 'code');
  return typeof code === 'string' ? code : undefined;
}
