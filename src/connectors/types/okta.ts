import type { Gate } from '../../platform/net/outbound-request.js';
import { address, fields, secret } from '../../targets/target-config.js';
import {
  type Account,
  type Accounts,
  judgeTarget,
  probeAccount,
  setAccount,
  userIn,
} from '../calls/undo.js';
import { isJsonObject, nothing, RefusedError, textAt, valueAt } from '../calls/vendor-answers.js';
import { fixedCredentials, VendorApi } from '../calls/vendor-api.js';
import {
  type ActionCall,
  type ActionDefinition,
  defineConnector,
  type Outcome,
  TEST_TIMEOUT_MS,
} from '../connector-type.js';

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

/**
 * Users of an Okta organisation. Suspends instead of deactivating, because that keeps groups and applications.
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserLifecycle/
 */
class OktaUsers implements Accounts {
  constructor(readonly api: VendorApi) {}

  async find(user: string, gate: Gate | undefined): Promise<Account> {
    const { id, login, status } = await this.read(user, gate);
    return { id, name: login, enabled: isEnabled(status) };
  }

  /** Okta rejects a second suspension, so the request is not idempotent. */
  async setEnabled({ id }: Account, enabled: boolean, gate: Gate): Promise<void> {
    const path = [...USERS, id, 'lifecycle', enabled ? 'unsuspend' : 'suspend'];
    await this.api.change(gate, { method: 'POST', path, idempotent: false }, nothing);
  }

  async target(call: ActionCall, gate: Gate): Promise<OktaUser> {
    const user = await this.read(userIn(call), gate);
    judgeTarget(call, user.login);
    return user;
  }

  /** Okta finds users by id, by login, and by the part before the @. Rejects any other user. */
  async read(user: string, gate: Gate | undefined): Promise<OktaUser> {
    if (user.toLowerCase() === OWNER) throw new RefusedError(`"${user}" is not a valid user name.`);
    const found = await this.api.ask(gate, { method: 'GET', path: [...USERS, user] }, userOf);
    const wanted = user.toLowerCase();
    const login = found.login.toLowerCase();
    if (found.id === user || login === wanted || login.startsWith(`${wanted}@`)) return found;
    throw new RefusedError('Okta returned another user than the requested one.');
  }
}

const ACCOUNT: ActionDefinition<OktaUsers> = {
  idempotent: true,
  send: setAccount,
  ask: probeAccount,
};

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
  destinations: [{ address: 'org_url' }],
  connect: ({ org_url: baseUrl, api_token }, outbound) => {
    const api = new VendorApi(outbound, {
      vendor: 'Okta',
      baseUrl,
      credentials: fixedCredentials({ authorization: `SSWS ${api_token}` }),
      secrets: [api_token],
      complaintIn,
      // https://developer.okta.com/docs/reference/rl-best-practices/
      limitEndsIn: 'x-rate-limit-reset',
    });
    return new OktaUsers(api);
  },
  actions: {
    disable_user: ACCOUNT,
    enable_user: ACCOUNT,
    revoke_sessions: {
      idempotent: true,
      send: async (users, call, gate) => {
        const { id, login } = await users.target(call, gate);
        const path = [...USERS, id, 'sessions'];
        const query = { oauthTokens: 'true' };
        await users.api.change(gate, { method: 'DELETE', path, query, idempotent: true }, nothing);
        const message = `The sessions of ${login} at Okta are ended, and its tokens are revoked.`;
        return { kind: 'done', message };
      },
    },
    reset_password: {
      // A repetition would send a second mail.
      idempotent: false,
      /** Okta mails the link. The service must not receive it, because readers of the action could use it. */
      send: async (users, call, gate) => {
        const { id, login } = await users.target(call, gate);
        const path = [...USERS, id, 'lifecycle', 'reset_password'];
        const query = { sendEmail: 'true' };
        await users.api.change(gate, { method: 'POST', path, query, idempotent: false }, nothing);
        return passwordReset(login);
      },
      ask: async (users, call) => {
        const { login, status } = await users.read(userIn(call), undefined);
        return status === RECOVERY ? passwordReset(login) : 'unknown';
      },
    },
  },
  test: async ({ api }) => {
    const request = { method: 'GET', path: [...USERS, OWNER], timeoutMs: TEST_TIMEOUT_MS } as const;
    const { login } = await api.ask(undefined, request, userOf);
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

/** Users with other statuses have not signed up yet, or must complete a step before they can sign in. */
function isEnabled(status: string): boolean | undefined {
  if (status === 'ACTIVE') return true;
  return status === 'SUSPENDED' || status === 'DEPROVISIONED' ? false : undefined;
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
  const all = [json, ...(Array.isArray(causes) ? causes.filter(isJsonObject) : [])];
  const summaries = all.map((one) => valueAt(one, 'errorSummary'));
  return [code, ...summaries.filter((text) => typeof text === 'string')].join(', ');
}
