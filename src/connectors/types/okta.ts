import { address, fields, secret } from '../../targets/target-config.js';
import {
  type Account,
  accountAction,
  type Accounts,
  judgeTarget,
  userIn,
} from '../calls/target-state.js';
import { RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { fixedCredentials, type VendorApi, vendorApi } from '../calls/vendor-api.js';
import { type ActionCall, defineConnector, type Outcome } from '../connector-type.js';

interface OktaUser {
  readonly id: string;
  readonly login: string;
  readonly status: string;
}

const USERS = ['api', 'v1', 'users'];
/** Alias for the owner of the token. */
const OWNER = 'me';
/** Status of a user who must choose a new password. */
const RECOVERY = 'RECOVERY';
/** Users with other statuses have not signed up yet, or must complete a step before they can sign in. */
const ENABLED: Readonly<Record<string, boolean>> = {
  ACTIVE: true,
  SUSPENDED: false,
  DEPROVISIONED: false,
};

/**
 * Users of an Okta organisation. Suspends instead of deactivating, because that keeps groups and applications.
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserLifecycle/
 */
class OktaUsers implements Accounts {
  constructor(readonly api: VendorApi) {}

  async find(user: string): Promise<Account> {
    const { id, login, status } = await this.read(user);
    return { id, name: login, enabled: ENABLED[status] };
  }

  /** Okta rejects a second suspension, so the request is not idempotent. */
  async setEnabled({ id }: Account, enabled: boolean): Promise<void> {
    const path = [...USERS, id, 'lifecycle', enabled ? 'unsuspend' : 'suspend'];
    await this.api.change({ path });
  }

  async target(call: ActionCall): Promise<OktaUser> {
    const user = await this.read(userIn(call));
    judgeTarget(call, user.login);
    return user;
  }

  /** Okta finds users by id, by login, and by the part before the @. Rejects any other user. */
  async read(user: string): Promise<OktaUser> {
    if (user.toLowerCase() === OWNER) throw new RefusedError(`"${user}" is not a valid user name.`);
    const found = await this.api.ask({ path: [...USERS, user] }, userOf);
    const wanted = user.toLowerCase();
    const login = found.login.toLowerCase();
    if (found.id === user || login === wanted || login.startsWith(`${wanted}@`)) return found;
    throw new RefusedError('Okta returned another user than the requested one.');
  }
}

export const okta = defineConnector({
  name: 'okta',
  description: 'Users of an Okta organisation, by the Okta Management API.',
  config: fields(
    {
      org_url: address('Address of the organisation, such as https://example.okta.com.', {}),
      api_token: secret('API token of an administrator who may manage users.', {
        pattern: '^[!-~]+$',
      }),
    },
    ['org_url', 'api_token'],
  ),
  connect: ({ org_url: baseUrl, api_token }, outbound) => {
    const api = vendorApi(outbound, {
      vendor: 'Okta',
      baseUrl,
      credentials: fixedCredentials({ authorization: `SSWS ${api_token}` }),
      complaintIn,
      // https://developer.okta.com/docs/reference/rl-best-practices/
      limitEndsIn: 'x-rate-limit-reset',
    });
    return (gate) => new OktaUsers(api(gate));
  },
  actions: {
    disable_user: accountAction,
    enable_user: accountAction,
    revoke_sessions: {
      idempotent: true,
      send: async (users, call) => {
        const { id, login } = await users.target(call);
        const path = [...USERS, id, 'sessions'];
        const query = { oauthTokens: 'true' };
        await users.api.change({ method: 'DELETE', path, query, idempotent: true });
        const message = `The sessions of ${login} at Okta are ended, and its tokens are revoked.`;
        return { kind: 'done', message };
      },
    },
    // Not idempotent: a repetition would send a second mail.
    reset_password: {
      /** Okta mails the link. The service must not receive it, because readers of the action could use it. */
      send: async (users, call) => {
        const { id, login } = await users.target(call);
        const path = [...USERS, id, 'lifecycle', 'reset_password'];
        await users.api.change({ path, query: { sendEmail: 'true' } });
        return passwordReset(login);
      },
      ask: async (users, call) => {
        const { login, status } = await users.read(userIn(call));
        return status === RECOVERY ? passwordReset(login) : 'unknown';
      },
    },
  },
  test: async ({ api }) => {
    const { login } = await api.test({ path: [...USERS, OWNER] }, userOf);
    return `Okta accepts the token of ${login}.`;
  },
});

function userOf(json: unknown): OktaUser {
  return {
    id: textAt(json, 'id'),
    login: textAt(json, 'profile', 'login'),
    status: textAt(json, 'status'),
  };
}

function passwordReset(login: string): Outcome {
  const message = `The password of ${login} is reset: Okta mails a link to choose a new one.`;
  return { kind: 'done', message };
}

/** https://developer.okta.com/docs/reference/error-codes/ */
function complaintIn(json: unknown): string | undefined {
  const code = valueAt(json, 'errorCode');
  if (typeof code !== 'string') return undefined;
  const causes = valueAt(json, 'errorCauses');
  const all = [json, ...(Array.isArray(causes) ? (causes as unknown[]) : [])];
  return said(code, ...all.map((one) => valueAt(one, 'errorSummary')));
}
