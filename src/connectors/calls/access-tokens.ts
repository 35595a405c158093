import type { Gate, OutboundAnswer } from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { AnswerRedactor } from './vendor-answers.js';
import { textAt, valueAt } from './vendor-answers.js';
import { RefusedError } from './vendor-answers.js';
import type { VendorCalls } from './vendor-calls.js';
import type { Credentials, Headers } from './vendor-api.js';

interface TokenOptions {
  /** Token endpoint of the service. */
  readonly url: URL;
  /** Form fields, including `client_id` and `client_secret`. */
  readonly form: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

interface Token {
  readonly text: string;
  /** Time from which a new token is requested. */
  readonly refreshAt: number;
  /** Time from which the token is invalid. */
  readonly expiresAt: number;
}

const TIMEOUT_MS = 5_000;
/**
 * A token is replaced this long before its end, or at a fifth of a short life, so that it does not expire in transit.
 */
const LONGEST_MARGIN_MS = 300_000;
const MARGIN = 0.2;
/** Life of a token if the service does not name it. */
const LIFE_WITHOUT_WORD_S = 300;
/** Maximum life of a token: one day. */
const LONGEST_LIFE_S = 86_400;
const PAUSE_AFTER_FAILURE_MS = 30_000;

/** Requesting a token has no effect at the vendor. The kill switch stops the request of the action. */
const NO_GATE: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: async () => undefined }),
};

/**
 * Access tokens of one connector by OAuth 2.0 client credentials (RFC 6749, section 4.4). All calls share one token
 * until shortly before its end. Concurrent calls request a new token once.
 */
export class AccessTokens implements Credentials {
  private token: Token | undefined;
  private flight: Promise<Token> | undefined;

  constructor(
    /** Separate calls with their own circuit breaker, because a failing login service says nothing about the API. */
    private readonly calls: VendorCalls,
    private readonly options: TokenOptions,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async headers(): Promise<Headers> {
    return headersOf(await this.current());
  }

  renew(refused: Headers): void {
    if (this.token && headersOf(this.token).authorization === refused.authorization) {
      this.token = undefined;
    }
  }

  private async current(): Promise<Token> {
    const { token } = this;
    if (token && this.now() < token.refreshAt) return token;
    try {
      return await this.fresh();
    } catch (error) {
      if (!token || this.now() >= token.expiresAt) throw error;
      // The service may recover before the token ends. Until then not every call retries.
      this.token = { ...token, refreshAt: this.now() + PAUSE_AFTER_FAILURE_MS };
      return token;
    }
  }

  private fresh(): Promise<Token> {
    this.flight ??= this.request().finally(() => (this.flight = undefined));
    return this.flight;
  }

  private async request(): Promise<Token> {
    const askedAt = this.now();
    const answer = await this.answer();
    const token = tokenIn(answer, askedAt);
    this.token = token;
    return token;
  }

  /**
   * Throws RefusedError if the credentials are rejected, otherwise UnreachableError. Nothing of the action was sent.
   */
  private async answer(): Promise<OutboundAnswer> {
    const { url, form } = this.options;
    const request = {
      method: 'POST',
      url,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      timeoutMs: TIMEOUT_MS,
    };
    const answer = await this.calls
      .gated(NO_GATE, request, { idempotent: true })
      .catch((error: unknown) => {
        throw error instanceof OutcomeUnknownError ? unreachable(error.message, error) : error;
      });
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    if (status === 400 || status === 401 || status === 403) {
      throw new RefusedError(
        `The login service does not accept the credentials${this.complaintOf(answer)}.`,
        status,
      );
    }
    throw unreachable(`The login service answered with status ${status}.`);
  }

  private complaintOf(answer: OutboundAnswer): string {
    const redactor = new AnswerRedactor(this.options.secrets);
    const data = redactor.data(answer);
    const words = [valueAt(data, 'error'), valueAt(data, 'error_description')];
    const said = words.filter((word) => typeof word === 'string').join(', ');
    const line = (said || redactor.excerpt(answer)).replace(/\s+/g, ' ').slice(0, 300).trim();
    return line && `: ${line.replace(/\.$/, '')}`;
  }
}

function headersOf({ text }: Token): Headers & { readonly authorization: string } {
  return { authorization: `Bearer ${text}` };
}

function tokenIn(answer: OutboundAnswer, askedAt: number): Token {
  const { json } = answer;
  let text: string;
  try {
    text = textAt(json, 'access_token');
  } catch (cause) {
    throw unreachable('The login service answered without an access token.', cause);
  }
  // Characters of a bearer token (RFC 6750, section 2.1).
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(text)) {
    throw unreachable('The login service answered with a token that a header cannot carry.');
  }
  const lifeMs = lifeIn(valueAt(json, 'expires_in')) * 1_000;
  const margin = Math.min(LONGEST_MARGIN_MS, lifeMs * MARGIN);
  return { text, refreshAt: askedAt + lifeMs - margin, expiresAt: askedAt + lifeMs };
}

/** In seconds. Some services send the number as a string. */
function lifeIn(value: unknown): number {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0
    ? Math.min(seconds, LONGEST_LIFE_S)
    : LIFE_WITHOUT_WORD_S;
}

function unreachable(message: string, cause?: unknown): UnreachableError {
  return new UnreachableError(message, { temporary: false, cause });
}
