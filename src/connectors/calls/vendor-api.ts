import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Gate, OutboundAnswer } from '../../platform/net/outbound-request.js';
import { shownStart } from '../../platform/text.js';
import { address, secret, text } from '../../targets/target-config.js';
import { AnswerRedactor, RefusedError, said, textAt, valueAt } from './vendor-answers.js';
import { type Outbound, VendorCalls } from './vendor-calls.js';

/** Path segment `.` or `..`, also next to an encoded slash, because some servers decode the slash first. */
const DOT_SEGMENT = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;
const LONGEST_VALUE = 2_000;

export const isDotSegment = (escaped: string): boolean => DOT_SEGMENT.test(escaped);

export function escapedForUrl(text: string): string | undefined {
  if (!text.isWellFormed()) return undefined;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes each path part as one segment and each query value as one value, because attackers may have chosen the text. */
export function vendorUrl(
  base: string,
  path: readonly string[],
  query: Readonly<Record<string, string>> = {},
): URL {
  const escaped = (value: string): string => {
    const text = value.length > LONGEST_VALUE ? undefined : escapedForUrl(value);
    if (text !== undefined) return text;
    throw new RefusedError('A value is too long for an address, or not valid text.');
  };
  const segments = path.map((part) => {
    const text = escaped(part);
    if (text !== '' && !isDotSegment(text)) return `/${text}`;
    throw new RefusedError('A value is not valid in a path.');
  });
  const url = urlBelow(base, segments.join(''));
  url.search = Object.entries(query)
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join('&');
  return url;
}

export function urlBelow(base: string, path: string): URL {
  const { origin, pathname } = new URL(base);
  const url = new URL(`${origin}${pathname.replace(/\/$/, '')}${path}`);
  // Correct escaping prevents this. If it has a defect, the request must not send credentials to another host.
  if (url.origin !== origin) throw new Error('A path leads to another host.');
  return url;
}

type VendorAccess = Omit<Outbound, 'smtp'>;
type Headers = Readonly<Record<string, string>>;
type Read<T> = (json: unknown) => T;

interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object | URLSearchParams;
  readonly timeoutMs?: number;
  readonly idempotent?: boolean;
}

export interface Tokens {
  headers(): Promise<Headers>;
  renew(refused: Headers): void;
}

interface VendorApiOptions {
  readonly vendor: string;
  readonly baseUrl: string;
  readonly headers?: Headers;
  readonly tokens?: Tokens;
  /** Error message in a response; `undefined` for a success. Default: reads `{error: {code, message}}`. */
  readonly complaintIn?: (json: unknown) => string | undefined;
}

const LONGEST_COMPLAINT = 300;
const SHORTEST_MASKED_WORD = 6;

export type VendorApi = ReturnType<ReturnType<typeof vendorApi>>;

/** Throws RefusedError if the vendor rejects a request; OutcomeUnknownError for an unknown outcome or odd response. */
export function vendorApi({ secrets, ...outbound }: VendorAccess, options: VendorApiOptions) {
  const { vendor, baseUrl, headers: fixed = {}, tokens, complaintIn = errorIn } = options;
  const calls = new VendorCalls(outbound);

  async function send<T>(
    gate: Gate | undefined,
    { method = 'GET', path, query, body, timeoutMs, idempotent = false }: ApiRequest,
    read: Read<T>,
  ): Promise<T> {
    const isForm = body instanceof URLSearchParams;
    const type = isForm ? 'application/x-www-form-urlencoded' : body && 'application/json';
    const request = {
      method,
      url: vendorUrl(baseUrl, path, query),
      body: isForm ? body.toString() : body && JSON.stringify(body),
      timeoutMs,
    };
    const once = (credentials: Headers): Promise<OutboundAnswer> => {
      const headers = { accept: 'application/json', 'content-type': type, ...credentials };
      return calls.send(gate, { ...request, headers }, { idempotent, limitIsRefusal: true });
    };
    let headers = tokens ? await tokens.headers() : fixed;
    let answer = await once(headers);
    if (answer.status === 401 && tokens) {
      tokens.renew(headers);
      headers = await tokens.headers();
      answer = await once(headers);
    }
    const { status, json } = answer;
    if (status < 200 || status >= 300 || complaintIn(json) !== undefined) {
      throw refusalOf(answer, headers);
    }
    if (json === undefined && answer.body.length > 0) {
      throw new OutcomeUnknownError(`${vendor} answered with something other than JSON.`, 'broken');
    }
    return read(json);
  }

  function refusalOf(answer: OutboundAnswer, headers: Headers): Error {
    const { status, json } = answer;
    const words = Object.values(headers).map((value) => value.split(' ').at(-1)!);
    const long = words.filter((word) => word.length >= SHORTEST_MASKED_WORD);
    const redactor = new AnswerRedactor([...secrets, ...long]);
    const complaint = asClause(complaintIn(redactor.data(answer)) ?? redactor.excerpt(answer));
    if (status === 401) {
      return new RefusedError(`${vendor} does not accept the credentials${complaint}.`, status);
    }
    const message = `${vendor} answered with status ${status}${complaint}.`;
    return failureBy(status, message, said(valueAt(json, 'error', 'code')));
  }

  /** @param gate required for changes; requests without a gate only read, and the kill switch does not stop them */
  return (gate?: Gate) => ({
    async change<T = void>(request: ApiRequest, read: Read<T> = () => undefined as T): Promise<T> {
      if (!gate) throw new Error('A change needs a gate.');
      return await send(gate, { method: 'POST', ...request }, read);
    },
    /** Sends a request that changes nothing at the vendor. Handles an unreadable response like a missing response. */
    async ask<T>(request: Omit<ApiRequest, 'idempotent'>, read: Read<T>): Promise<T> {
      try {
        return await send(gate, { ...request, idempotent: true }, read);
      } catch (error) {
        if (!(error instanceof OutcomeUnknownError) || error.reason !== 'broken') throw error;
        throw new UnreachableError(error.message, { temporary: false, cause: error });
      }
    },
  });
}

const errorIn = (json: unknown): string | undefined =>
  said(valueAt(json, 'error', 'code'), valueAt(json, 'error', 'message'));

export function asClause(complaint: string): string {
  const line = shownStart(complaint.replace(/\s+/g, ' ').trim(), LONGEST_COMPLAINT);
  return line && `: ${line.replace(/\.$/, '')}`;
}

export function failureBy(status: number, message: string, code?: string): Error {
  if (status === 408 || status >= 500) return new OutcomeUnknownError(message, 'broken');
  const hint = status >= 300 && status < 400 ? ' Redirects are not followed.' : '';
  return new RefusedError(message + hint, status, code);
}

const USED_LIFE = 0.8;
const DEFAULT_LIFE_S = 300;
const LOGIN = { method: 'POST', path: [], timeoutMs: 5_000 } as const;

type Token = ReturnType<typeof tokenIn>;

/** Permits every request: a token request has no effect, and the kill switch stops the later request of the action. */
const NO_GATE: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: async () => undefined }),
};

/** OAuth 2.0 client credentials grant (RFC 6749, 4.4). The outcome is never unknown: the action sent no request. */
export function accessTokens(
  access: VendorAccess,
  url: URL,
  form: Readonly<Record<string, string>>,
): Tokens {
  // https://datatracker.ietf.org/doc/html/rfc6749#section-5.2
  const complaintIn = (json: unknown) =>
    said(valueAt(json, 'error'), valueAt(json, 'error_description'));
  // The login service has its own circuit breaker, because its failure does not mean that the API fails.
  const options = { vendor: 'The login service', baseUrl: url.href, complaintIn };
  const login = vendorApi(access, options)(NO_GATE);
  const body = new URLSearchParams(form);
  let token: Token | undefined;
  let flight: Promise<Token> | undefined;

  async function request(): Promise<Token> {
    const askedAt = performance.now();
    try {
      return (token = await login.ask({ ...LOGIN, body }, (json) => tokenIn(json, askedAt)));
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError)) throw error;
      throw new UnreachableError(error.message, { temporary: false, cause: error });
    }
  }

  return {
    renew(refused) {
      if (token?.headers === refused) token = undefined;
    },
    async headers() {
      if (token && performance.now() < token.refreshAt) return token.headers;
      flight ??= request().finally(() => (flight = undefined));
      return (await flight).headers;
    },
  };
}

function tokenIn(json: unknown, askedAt: number) {
  const text = textAt(json, 'access_token');
  // Characters of a bearer token (RFC 6750, section 2.1).
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(text)) {
    const message = 'The login service answered with a token that a header cannot carry.';
    throw new OutcomeUnknownError(message, 'broken');
  }
  // Some services send the lifetime as a string.
  const seconds = Number(valueAt(json, 'expires_in')) || DEFAULT_LIFE_S;
  const refreshAt = askedAt + seconds * 1_000 * USED_LIFE;
  return { headers: { authorization: `Bearer ${text}` }, refreshAt };
}

export const MICROSOFT_LOGIN_FIELDS = {
  login_url: address('Address of the login service. National clouds have their own.', {
    default: 'https://login.microsoftonline.com',
  }),
  tenant_id: text('Id or domain of the directory.', {
    pattern: '^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$',
    maxLength: 253,
  }),
  client_id: text('Id of the registered application.', {
    pattern: '^[A-Za-z0-9-]{1,100}$',
    maxLength: 100,
  }),
  client_secret: secret('Client secret of the application.'),
} as const;

/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
export function microsoftTokens(
  access: VendorAccess,
  login: Readonly<Record<keyof typeof MICROSOFT_LOGIN_FIELDS, string>>,
  resource: string,
): Tokens {
  const { login_url, tenant_id, client_id, client_secret } = login;
  return accessTokens(access, vendorUrl(login_url, [tenant_id, 'oauth2', 'v2.0', 'token']), {
    client_id,
    client_secret,
    scope: `${resource}/.default`,
    grant_type: 'client_credentials',
  });
}
