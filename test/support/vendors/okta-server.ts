import type { IncomingMessage } from 'node:http';
import { type Reply, type Route, type VendorCall, VendorServer } from './vendor-server.js';

export interface StoredOktaUser {
  readonly id: string;
  readonly login: string;
  status: string;
  sessionsCleared: number;
  mails: number;
}

const TOKEN = '00okta-token-that-nobody-sees';

/**
 * The Okta Management API, written from its published schema (Apache-2.0):
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/User/ (getUser)
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserLifecycle/ (suspendUser, unsuspendUser)
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserCred/ (resetPassword)
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserSessions/ (revokeUserSessions)
 * https://developer.okta.com/docs/reference/error-codes/
 */
export class OktaServer extends VendorServer {
  readonly users: StoredOktaUser[] = [];

  get config() {
    return { org_url: this.url, api_token: TOKEN };
  }

  user(login: string, status = 'ACTIVE'): StoredOktaUser {
    const user = { id: `00u${this.users.length}`, login, status, sessionsCleared: 0, mails: 0 };
    this.users.push(user);
    return user;
  }

  override forget(): void {
    super.forget();
    this.users.length = 0;
  }

  protected override isLetIn({ authorization }: IncomingMessage['headers']): boolean {
    return authorization === `SSWS ${TOKEN}`;
  }

  protected errorOf(status: number, message: string): unknown {
    const errorCode = `E00000${String(status).slice(-2)}`;
    return {
      errorCode,
      errorSummary: message,
      errorLink: errorCode,
      errorId: 'oae-1',
      errorCauses: [{ errorSummary: 'the cause' }],
    };
  }

  protected get routes(): readonly Route[] {
    const user = '/api/v1/users/{user}';
    return [
      { on: `GET ${user}`, answer: (call) => this.onUser(call, shown) },
      {
        on: `POST ${user}/lifecycle/suspend`,
        answer: (call) => this.onUser(call, (one) => this.from(one, 'ACTIVE', 'SUSPENDED')),
      },
      {
        on: `POST ${user}/lifecycle/unsuspend`,
        answer: (call) => this.onUser(call, (one) => this.from(one, 'SUSPENDED', 'ACTIVE')),
      },
      {
        on: `POST ${user}/lifecycle/reset_password`,
        query: { sendEmail: 'true' },
        answer: (call) => this.onUser(call, reset),
      },
      {
        on: `DELETE ${user}/sessions`,
        query: { oauthTokens: 'true' },
        answer: (call) => this.onUser(call, clearSessions),
      },
    ];
  }

  /** Changes the status of a user. Okta permits the change only from the documented status. */
  private from(user: StoredOktaUser, before: string, after: string): Reply {
    if (user.status !== before)
      return this.error(400, `Cannot do this to a user in ${user.status}`);
    user.status = after;
    return { status: 200 };
  }

  /** Finds the user by id, by login, or by the part of the login before the @. `me` is the owner of the token. */
  private onUser({ path }: VendorCall, work: (user: StoredOktaUser) => Reply): Reply {
    const name = path['user']!;
    const owner = { id: '00uowner', login: 'soc-service@example.com', status: 'ACTIVE' };
    if (name === 'me') return work({ ...owner, sessionsCleared: 0, mails: 0 });
    const user = this.users.find(({ id, login }) =>
      [id, login, login.split('@')[0]].includes(name),
    );
    return user ? work(user) : this.error(404, `Not found: Resource not found: ${name} (User)`);
  }
}

function shown({ id, login, status }: StoredOktaUser): Reply {
  return { status: 200, body: { id, status, profile: { login, email: login } } };
}

function reset(user: StoredOktaUser): Reply {
  user.status = 'RECOVERY';
  user.mails += 1;
  return { status: 200, body: {} };
}

function clearSessions(user: StoredOktaUser): Reply {
  user.sessionsCleared += 1;
  return { status: 204 };
}
