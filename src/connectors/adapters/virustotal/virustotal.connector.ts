import { Injectable } from '@nestjs/common';
import { type ActionTypeName, isActionType } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { numberAt, textAt, valueAt } from '../../calls/vendor-answers.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { fixedCredentials, VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { SHORTEST_SECRET, type Config, type ConfigSchema } from '../../../targets/target-config.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
  ConnectorType,
} from '../../connector-type.js';

interface VirusTotalConfig {
  readonly base_url?: string;
  readonly api_key: string;
}

const BASE_URL = 'https://www.virustotal.com/api/v3';
/** A free key has 500 requests per day and 4 per minute: https://docs.virustotal.com/reference/public-vs-premium-api */
const CHECKED_EVERY_MS = 3_600_000;
/** MD5, SHA-1 or SHA-256. */
const HASH = /^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** Looks up existing reports. It never uploads a file or URL for analysis, because other customers could see it. */
export class VirusTotalConnector extends Connector {
  private readonly api: VendorApi;

  constructor(
    identity: ConnectorIdentity,
    private readonly config: VirusTotalConfig,
    calls: VendorCalls,
  ) {
    super(identity);
    const { base_url: baseUrl = BASE_URL, api_key } = config;
    this.api = new VendorApi(calls, {
      vendor: 'VirusTotal',
      baseUrl,
      credentials: fixedCredentials({ 'x-apikey': api_key }),
      secrets: [api_key],
      complaintIn,
      codeIn,
    });
  }

  provides(type: ActionTypeName): boolean {
    return PLACES[type] !== undefined;
  }

  idempotent(): boolean {
    return true;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(async () => {
      const place = PLACES[call.type];
      if (!place) throw new RefusedError(`VirusTotal does not offer ${call.type}.`);
      const request = { method: 'GET', path: place(call.parameters) } as const;
      try {
        return await this.api.ask(gate, request, reportIn);
      } catch (error) {
        if (error instanceof RefusedError && isUnknown(error)) return UNKNOWN;
        throw error;
      }
    });
  }

  /** Reads the owner of the key, because a look-up would count against the daily quota. */
  test(): Promise<TestResult> {
    return testResult(async () => {
      const path = ['users', this.config.api_key];
      const request = { method: 'GET', path, timeoutMs: TEST_TIMEOUT_MS } as const;
      await this.api.ask(undefined, request, (json) => textAt(json, 'data', 'id'));
      return 'VirusTotal accepts the key.';
    });
  }
}

const UNKNOWN: Outcome = {
  kind: 'done',
  message: 'VirusTotal has no report. This does not mean that it is harmless.',
  data: { known: false },
};

/** Path of each look-up. */
const PLACES: Readonly<
  Partial<Record<ActionTypeName, (parameters: ActionCall['parameters']) => string[]>>
> = {
  // The id of a URL is the URL in base64url.
  lookup_url: ({ url }) => ['urls', Buffer.from(String(url)).toString('base64url')],
  lookup_domain: ({ domain }) => ['domains', String(domain)],
  lookup_ip: ({ ip }) => ['ip_addresses', String(ip)],
  lookup_hash: ({ hash }) => ['files', hashIn(String(hash))],
};

function hashIn(text: string): string {
  if (!HASH.test(text)) throw new RefusedError('The hash must be an MD5, SHA-1 or SHA-256.');
  return text.toLowerCase();
}

/** Extracts the counts of the engines from a report. */
function reportIn(json: unknown): Outcome {
  const count = (name: string): number =>
    numberAt(json, 'data', 'attributes', 'last_analysis_stats', name);
  const [malicious, suspicious] = [count('malicious'), count('suspicious')];
  const [harmless, undetected] = [count('harmless'), count('undetected')];
  const engines = malicious + suspicious + harmless + undetected;
  const found = { known: true, malicious, suspicious, harmless, undetected };
  const reputation = valueAt(json, 'data', 'attributes', 'reputation');
  const analysed = valueAt(json, 'data', 'attributes', 'last_analysis_date');
  return {
    kind: 'done',
    message: `${malicious} of ${engines} engines rate it malicious, ${suspicious} suspicious.`,
    data: {
      ...found,
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

/** A 404 may also come from a wrong `base_url`. */
function isUnknown({ status, code }: RefusedError): boolean {
  return status === 404 && code === 'NotFoundError';
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

const VIRUSTOTAL_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      default: BASE_URL,
      description: 'Address of the VirusTotal API.',
    },
    api_key: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]+$',
      minLength: SHORTEST_SECRET,
      maxLength: 200,
      writeOnly: true,
      description: 'API key of the account.',
    },
  },
  required: ['api_key'],
  additionalProperties: false,
};

@Injectable()
export class VirusTotalType extends ConnectorType {
  readonly name = 'virustotal';
  readonly description = 'VirusTotal: reputation of a URL, domain, address or file.';
  readonly actions = Object.keys(PLACES).filter(isActionType);
  readonly destinations = [{ address: 'base_url' }];
  override readonly checkedEveryMs = CHECKED_EVERY_MS;

  readonly schema = VIRUSTOTAL_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const calls = new VendorCalls(this.http);
    return new VirusTotalConnector(identity, config as unknown as VirusTotalConfig, calls);
  }
}
