import { RefusedError, AnswerRedactor, AnswerShapeError } from './vendor-answers.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import type { Gate, OutboundAnswer } from '../../platform/net/outbound-request.js';
import { shownStart } from '../../platform/text.js';
import { VendorCalls, type VendorHttp, type VendorRequest } from './vendor-calls.js';

/** A segment `.` or `..`, also between encoded slashes, which some servers decode first. */
const DOT_SEGMENT = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;
/** Servers reject longer addresses, and names and ids are shorter. */
const LONGEST_VALUE = 2_000;

/** Whether an escaped segment could change the path. */
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
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const segments = path.map((part) => `/${segment(part)}`).join('');
  const values = Object.entries(query).map(([name, value]) => `${name}=${escaped(value)}`);
  const url = new URL(`${origin}${prefix}${segments}`);
  // The escaping excludes this already. A mistake there must not send credentials to another host.
  if (url.origin !== origin) throw new Error('A path leads to another host.');
  url.search = values.join('&');
  return url;
}

function segment(part: string): string {
  const text = escaped(part);
  if (text === '' || isDotSegment(text)) throw new RefusedError('A value is not valid in a path.');
  return text;
}

function escaped(value: string): string {
  const text = value.length > LONGEST_VALUE ? undefined : escapedForUrl(value);
  if (text === undefined)
    throw new RefusedError('A value is too long for an address, or not valid text.');
  return text;
}

export type Headers = Readonly<Record<string, string>>;

/** Authenticates requests to the vendor. */
export interface Credentials {
  headers(): Promise<Headers>;
  /** Called after a 401. Absent if the credentials cannot be renewed. */
  renew?(refused: Headers): void;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Segments; each is escaped. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Headers;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

export interface ChangeRequest extends ApiRequest {
  /** Repeating the request has the same effect and the same answer. */
  readonly idempotent: boolean;
}

interface VendorApiOptions {
  /** Name for people. */
  readonly vendor: string;
  readonly baseUrl: string;
  readonly credentials: Credentials;
  /** Texts to mask in answers, besides the values of the credential headers. */
  readonly secrets: readonly string[];
  /** Error message in an answer with any status; `undefined` if it is not an error. */
  readonly complaintIn: (json: unknown) => string | undefined;
  /** Error code in an answer, if the connector needs it. */
  readonly codeIn?: (json: unknown) => string | undefined;
  /** See CallOptions: header of the vendor instead of Retry-After. */
  readonly limitEndsIn?: string;
}

const LONGEST_COMPLAINT = 300;
/** Shorter words in headers are ordinary words. */
const SHORTEST_MASKED_WORD = 6;

/**
 * JSON requests to one vendor. `read` throws AnswerShapeError for an undocumented answer. A refusal is a RefusedError,
 * and an unknown outcome is an OutcomeUnknownError.
 */
export class VendorApi {
  private readonly calls: VendorCalls;

  constructor(
    http: VendorHttp,
    private readonly options: VendorApiOptions,
  ) {
    this.calls = new VendorCalls(http);
  }

  /** Sends a request with an effect. */
  async change<T>(gate: Gate, request: ChangeRequest, read: (json: unknown) => T): Promise<T> {
    const { idempotent } = request;
    const { limitEndsIn } = this.options;
    const send = (outgoing: VendorRequest): Promise<OutboundAnswer> =>
      this.calls.gated(gate, outgoing, { idempotent, limitIsRefusal: true, limitEndsIn });
    return await this.answered(send, request, read);
  }

  /**
   * Sends a request that changes nothing. Without a gate the kill switch does not stop it: a poll, a probe or a test.
   * An unreadable answer counts as no answer.
   */
  async ask<T>(
    gate: Gate | undefined,
    request: ApiRequest,
    read: (json: unknown) => T,
  ): Promise<T> {
    const { limitEndsIn } = this.options;
    const send = (outgoing: VendorRequest): Promise<OutboundAnswer> =>
      gate
        ? this.calls.gated(gate, outgoing, { idempotent: true, limitEndsIn })
        : this.calls.ungated(outgoing);
    try {
      return await this.answered(send, request, read);
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError) || error.reason !== 'broken') throw error;
      throw new UnreachableError(error.message, { temporary: false, cause: error });
    }
  }

  private async answered<T>(
    send: (outgoing: VendorRequest) => Promise<OutboundAnswer>,
    request: ApiRequest,
    read: (json: unknown) => T,
  ): Promise<T> {
    const { credentials, vendor } = this.options;
    let headers = await credentials.headers();
    let answer = await send(this.outgoing(request, headers));
    if (answer.status === 401 && credentials.renew) {
      credentials.renew(headers);
      headers = await credentials.headers();
      answer = await send(this.outgoing(request, headers));
    }
    const json = answer.json;
    this.judge(answer, json, headers);
    if (json === undefined && answer.body.length > 0) {
      throw new AnswerShapeError(`${vendor} answered with something other than JSON.`);
    }
    return read(json);
  }

  private outgoing(request: ApiRequest, credentials: Headers): VendorRequest {
    const { method, path, query, headers, body, timeoutMs } = request;
    return {
      method,
      url: vendorUrl(this.options.baseUrl, path, query),
      headers: {
        accept: 'application/json',
        'content-type': body === undefined ? undefined : 'application/json',
        ...headers,
        ...credentials,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
  }

  /** Throws if the answer is an error. */
  private judge(answer: OutboundAnswer, json: unknown, headers: Headers): void {
    const { vendor, complaintIn, codeIn } = this.options;
    const { status } = answer;
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && complaintIn(json) === undefined) return;
    const said = this.complaintOf(answer, headers);
    if (status === 401) {
      throw new RefusedError(`${vendor} does not accept the credentials${said}.`, status);
    }
    const message = `${vendor} answered with status ${status}${said}.`;
    if (status === 408 || status >= 500) throw new OutcomeUnknownError(message, 'broken');
    if (status >= 300 && status < 400) {
      throw new RefusedError(`${message} Redirects are not followed.`, status);
    }
    throw new RefusedError(message, status, codeIn?.(json));
  }

  /** Error message of the vendor, without secrets. */
  private complaintOf(answer: OutboundAnswer, headers: Headers): string {
    // Without the scheme, such as Bearer, which is an ordinary word.
    const words = Object.values(headers).map((value) => value.split(' ').at(-1)!);
    const secrets = [
      ...this.options.secrets,
      ...words.filter((one) => one.length >= SHORTEST_MASKED_WORD),
    ];
    const redactor = new AnswerRedactor(secrets);
    const complaint = this.options.complaintIn(redactor.data(answer)) ?? redactor.excerpt(answer);
    const line = shownStart(complaint.replace(/\s+/g, ' ').trim(), LONGEST_COMPLAINT);
    return line && `: ${line.replace(/\.$/, '')}`;
  }
}

/** Credentials that never expire. */
export function fixedCredentials(headers: Headers): Credentials {
  return { headers: async () => headers };
}
