import type { IncomingMessage } from 'node:http';
import { objectOf, type Reply, type Route } from './vendor-server.js';

const EXPIRES_IN_S = 3_600;

/**
 * The tokens of a vendor's login service, by OAuth 2.0 client credentials (RFC 6749, section 4.4).
 * https://www.rfc-editor.org/rfc/rfc6749#section-4.4
 */
export class ClientCredentials {
  private issued = 0;
  private good: string | undefined;
  expiresIn: number | string | undefined = EXPIRES_IN_S;

  constructor(
    private readonly fields: Readonly<Record<string, string>>,
    private readonly status = 200,
  ) {}

  /** Invalidates all issued tokens. */
  expire(): void {
    this.good = undefined;
  }

  isGood({ authorization }: IncomingMessage['headers']): boolean {
    return this.good !== undefined && authorization === `Bearer ${this.good}`;
  }

  /** Returns the route for tokens. A request must have exactly these fields. Only its client secret may be wrong. */
  route(path: string): Route {
    const { client_secret, ...others } = this.fields;
    const properties = Object.fromEntries(
      Object.entries(others).map(([name, value]) => [name, { const: value }]),
    );
    return {
      on: `POST ${path}`,
      form: true,
      open: true,
      body: objectOf({ ...properties, client_secret: { type: 'string' } }),
      answer: ({ body }) =>
        (body as { client_secret: string }).client_secret === client_secret
          ? this.issue()
          : refusal('The client secret is wrong.'),
    };
  }

  private issue(): Reply {
    this.issued += 1;
    this.good = `issued.token-${this.issued}`;
    const body = { access_token: this.good, token_type: 'Bearer', expires_in: this.expiresIn };
    return { status: this.status, body };
  }
}

function refusal(error_description: string): Reply {
  return { status: 401, body: { error: 'invalid_client', error_description } };
}
