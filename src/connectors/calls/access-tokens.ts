import type { Gate } from '../../platform/net/outbound-request.js';
import { OutcomeUnknownError, UnreachableError } from '../../platform/net/net.errors.js';
import { address, secret, text } from '../../targets/target-config.js';
import { RefusedError, said, textAt, valueAt } from './vendor-answers.js';
import {
  type Headers,
  type Tokens,
  type VendorAccess,
  type VendorApi,
  vendorApi,
  vendorUrl,
} from './vendor-api.js';

interface Token {
  readonly headers: Headers;
  /** Time from which a new token is requested, shortly before the token is invalid. */
  readonly refreshAt: number;
}

const LONGEST_MARGIN_MS = 60_000;
const MARGIN = 0.2;
/** Life of a token if the service does not name it. */
const DEFAULT_LIFE_S = 300;
const TIMEOUT_MS = 5_000;

/** Requesting a token has no effect at the vendor. The kill switch stops the request of the action. */
const NO_GATE: Gate = {
  send: (request) =>
    request({ signal: new AbortController().signal, leave: async () => undefined }),
};

/**
 * Access tokens of one connector by OAuth 2.0 client credentials (RFC 6749, section 4.4). All calls share one token.
 * Concurrent calls request a new token once.
 */
export class AccessTokens implements Tokens {
  /** With a circuit breaker of its own, because a failing login service says nothing about the API. */
  private readonly login: VendorApi;
  private token: Token | undefined;
  private flight: Promise<Token> | undefined;

  /**
   * @param url token endpoint of the service
   * @param form fields, including `client_id` and `client_secret`
   */
  constructor(
    access: VendorAccess,
    url: URL,
    private readonly form: Readonly<Record<string, string>>,
    private readonly now: () => number = () => performance.now(),
  ) {
    const options = { vendor: 'The login service', baseUrl: url.href, complaintIn };
    this.login = vendorApi(access, options)(NO_GATE);
  }

  renew(refused: Headers): void {
    const isCurrent = this.token?.headers['authorization'] === refused['authorization'];
    if (isCurrent) this.token = undefined;
  }

  async headers(): Promise<Headers> {
    if (this.token && this.now() < this.token.refreshAt) return this.token.headers;
    this.flight ??= this.request().finally(() => (this.flight = undefined));
    return (await this.flight).headers;
  }

  /** Throws RefusedError if the credentials are rejected, otherwise UnreachableError. Nothing of the action was sent. */
  private async request(): Promise<Token> {
    const askedAt = this.now();
    const request = { method: 'POST', path: [], form: this.form, timeoutMs: TIMEOUT_MS } as const;
    try {
      return (this.token = await this.login.ask(request, (json) => tokenIn(json, askedAt)));
    } catch (error) {
      const isOther = error instanceof RefusedError && ![400, 401, 403].includes(error.status!);
      if (!isOther && !(error instanceof OutcomeUnknownError)) throw error;
      throw new UnreachableError(error.message, { temporary: false, cause: error });
    }
  }
}

function tokenIn(json: unknown, askedAt: number): Token {
  const text = textAt(json, 'access_token');
  // Characters of a bearer token (RFC 6750, section 2.1).
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(text)) {
    const message = 'The login service answered with a token that a header cannot carry.';
    throw new OutcomeUnknownError(message, 'broken');
  }
  // Some services send the number as a string.
  const seconds = Number(valueAt(json, 'expires_in'));
  const lifeMs = (seconds > 0 ? seconds : DEFAULT_LIFE_S) * 1_000;
  const refreshAt = askedAt + lifeMs - Math.min(LONGEST_MARGIN_MS, lifeMs * MARGIN);
  return { headers: { authorization: `Bearer ${text}` }, refreshAt };
}

/** https://datatracker.ietf.org/doc/html/rfc6749#section-5.2 */
function complaintIn(json: unknown): string | undefined {
  return said(valueAt(json, 'error'), valueAt(json, 'error_description'));
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
  client_secret: secret('Client secret of the application.', {}),
} as const;

type MicrosoftLogin = Readonly<Record<keyof typeof MICROSOFT_LOGIN_FIELDS, string>>;

/**
 * Tokens by client credentials, with all permissions that an administrator granted to the application.
 * https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 *
 * @param resource the service, such as `https://graph.microsoft.com`
 */
export function microsoftTokens(
  access: VendorAccess,
  { login_url, tenant_id, client_id, client_secret }: MicrosoftLogin,
  resource: string,
): AccessTokens {
  return new AccessTokens(access, vendorUrl(login_url, [tenant_id, 'oauth2', 'v2.0', 'token']), {
    client_id,
    client_secret,
    scope: `${resource}/.default`,
    grant_type: 'client_credentials',
  });
}
