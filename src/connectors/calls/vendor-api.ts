import { AnswerRedactor, RefusedError } from './vendor-answers.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Gate, OutboundAnswer } from '../../platform/net/outbound-request.js';
import { shownStart } from '../../platform/text.js';
import { TEST_TIMEOUT_MS, VendorCalls, type Outbound, type VendorRequest } from './vendor-calls.js';

/** A segment `.` or `..`, also between encoded slashes, which some servers decode first. */
const DOT_SEGMENT = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;
/** Servers reject longer addresses, and names and ids are shorter. */
const LONGEST_VALUE = 2_000;

export function isDotSegment(escaped: string): boolean {
  return DOT_SEGMENT.test(escaped);
}

/** Escapes a path segment, a query value or a form value; `undefined` for half of a surrogate pair. */
export function escapedForUrl(text: string): string | undefined {
  if (!text.isWellFormed()) return undefined;
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Builds the address of a request. Each part becomes one path segment or query value, whatever it contains, because
 * attackers may have chosen it.
 */
export function vendorUrl(
  base: string,
  path: readonly string[],
  query: Readonly<Record<string, string>> = {},
): URL {
  const segments = path.map((part) => `/${segment(part)}`).join('');
  const url = urlBelow(base, segments);
  const values = Object.entries(query).map(([name, value]) => `${name}=${escaped(value)}`);
  url.search = values.join('&');
  return url;
}

export function urlBelow(base: string, path: string): URL {
  const { origin, pathname } = new URL(base);
  const url = new URL(`${origin}${pathname.replace(/\/$/, '')}${path}`);
  // The escaping excludes this already. A mistake there must not send credentials to another host.
  if (url.origin !== origin) throw new Error('A path leads to another host.');
  return url;
}

function segment(part: string): string {
  const text = escaped(part);
  if (text === '' || isDotSegment(text)) throw new RefusedError('A value is not valid in a path.');
  return text;
}

function escaped(value: string): string {
  const text = value.length > LONGEST_VALUE ? undefined : escapedForUrl(value);
  if (text !== undefined) return text;
  throw new RefusedError('A value is too long for an address, or not valid text.');
}

export type VendorAccess = Omit<Outbound, 'smtp'>;
export type Headers = Readonly<Record<string, string>>;

/** Credentials that expire. */
export interface Tokens {
  headers(): Promise<Headers>;
  /** Called after a 401. */
  renew(refused: Headers): void;
}

interface ApiRequest {
  /** Default: GET to read, POST to change. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Segments; each is escaped. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Sent as a form instead. */
  readonly form?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

interface ChangeRequest extends ApiRequest {
  /** Repeating the request has the same effect and the same answer. */
  readonly idempotent?: boolean;
}

interface VendorApiOptions {
  readonly vendor: string;
  readonly baseUrl: string;
  readonly headers?: Headers;
  readonly tokens?: Tokens;
  /** Error message in an answer with any status; `undefined` if it is not an error. */
  readonly complaintIn: (json: unknown) => string | undefined;
  readonly codeIn?: (json: unknown) => string | undefined;
}

const LONGEST_COMPLAINT = 300;
/** Shorter words in headers are ordinary words. */
const SHORTEST_MASKED_WORD = 6;

/** Returns the access to the API of one vendor through a gate. All share one circuit breaker. */
export function vendorApi(
  access: VendorAccess,
  options: VendorApiOptions,
): (gate?: Gate) => VendorApi {
  const calls = new VendorCalls(access);
  return (gate) => new VendorApi(calls, access.secrets, options, gate);
}

/**
 * JSON requests to one vendor. `read` throws for an undocumented answer. A refusal is a RefusedError,
 * and an unknown outcome is an OutcomeUnknownError.
 */
export class VendorApi {
  constructor(
    private readonly calls: VendorCalls,
    private readonly secrets: readonly string[],
    private readonly options: VendorApiOptions,
    /** Without a gate only requests that change nothing are possible. The kill switch does not stop them. */
    private readonly gate: Gate | undefined,
  ) {}

  async change<T = void>(
    { idempotent = false, ...request }: ChangeRequest,
    read: (json: unknown) => T = () => undefined as T,
  ): Promise<T> {
    if (!this.gate) throw new Error('A change needs a gate.');
    return await this.answered({ method: 'POST', ...request }, idempotent, read);
  }

  /** Sends a request that changes nothing. An unreadable answer counts as no answer. */
  async ask<T>(request: ApiRequest, read: (json: unknown) => T): Promise<T> {
    try {
      return await this.answered(request, true, read);
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError) || error.reason !== 'broken') throw error;
      throw new UnreachableError(error.message, { temporary: false, cause: error });
    }
  }

  /** Sends a request for a test, for which a person waits. */
  async test<T>(request: ApiRequest, read: (json: unknown) => T): Promise<T> {
    return await this.ask({ ...request, timeoutMs: TEST_TIMEOUT_MS }, read);
  }

  private async answered<T>(
    request: ApiRequest,
    idempotent: boolean,
    read: (json: unknown) => T,
  ): Promise<T> {
    const { headers: fixed = {}, tokens, vendor } = this.options;
    const options = { idempotent, limitIsRefusal: true };
    const send = (headers: Headers): Promise<OutboundAnswer> =>
      this.calls.send(this.gate, this.outgoing(request, headers), options);
    let headers = tokens ? await tokens.headers() : fixed;
    let answer = await send(headers);
    if (answer.status === 401 && tokens) {
      tokens.renew(headers);
      headers = await tokens.headers();
      answer = await send(headers);
    }
    const { json } = answer;
    this.judge(answer, json, headers);
    if (json === undefined && answer.body.length > 0) {
      throw new OutcomeUnknownError(`${vendor} answered with something other than JSON.`, 'broken');
    }
    return read(json);
  }

  private outgoing(request: ApiRequest, credentials: Headers): VendorRequest {
    const { method = 'GET', path, query, body, form, timeoutMs } = request;
    const type = form ? 'application/x-www-form-urlencoded' : body && 'application/json';
    return {
      method,
      url: vendorUrl(this.options.baseUrl, path, query),
      headers: { accept: 'application/json', 'content-type': type, ...credentials },
      body: form ? new URLSearchParams(form).toString() : body && JSON.stringify(body),
      timeoutMs,
    };
  }

  private judge(answer: OutboundAnswer, json: unknown, headers: Headers): void {
    const { vendor, complaintIn, codeIn } = this.options;
    const { status } = answer;
    if (status >= 200 && status < 300 && complaintIn(json) === undefined) return;
    const complaint = this.complaintOf(answer, headers);
    if (status === 401) {
      throw new RefusedError(`${vendor} does not accept the credentials${complaint}.`, status);
    }
    const message = `${vendor} answered with status ${status}${complaint}.`;
    throw failureBy(status, message, codeIn?.(json));
  }

  private complaintOf(answer: OutboundAnswer, headers: Headers): string {
    // Without the scheme, such as Bearer, which is an ordinary word.
    const words = Object.values(headers).map((value) => value.split(' ').at(-1)!);
    const long = words.filter((word) => word.length >= SHORTEST_MASKED_WORD);
    const redactor = new AnswerRedactor([...this.secrets, ...long]);
    const complaint = this.options.complaintIn(redactor.data(answer)) ?? redactor.excerpt(answer);
    return asClause(complaint);
  }
}

/** Error message of a vendor as the end of a sentence; empty if there is none. */
export function asClause(complaint: string): string {
  const line = shownStart(complaint.replace(/\s+/g, ' ').trim(), LONGEST_COMPLAINT);
  return line && `: ${line.replace(/\.$/, '')}`;
}

export function failureBy(status: number, message: string, code?: string): Error {
  if (status === 408 || status >= 500) return new OutcomeUnknownError(message, 'broken');
  const isRedirect = status >= 300 && status < 400;
  const shown = isRedirect ? `${message} Redirects are not followed.` : message;
  return new RefusedError(shown, status, code);
}
