import { address, fields, secret } from '../../targets/target-config.js';
import { type Account, accountAction, judgeTarget, userIn } from '../calls/target-state.js';
import { RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { type VendorApi, vendorApi } from '../calls/vendor-api.js';
import { type ActionCall, defineConnector, done } from '../connector-type.js';

interface OktaUser extends Account {
  readonly status: string;
}

const USERS = ['api', 'v1', 'users'];
const OWNER = 'me';
/** Status → enabled. Users with another status have not signed up, or must complete a step before they sign in. */
const ENABLED: Readonly<Record<string, boolean>> = {
  ACTIVE: true,
  SUSPENDED: false,
  DEPROVISIONED: false,
};

async function readUser(okta: VendorApi, user: string): Promise<OktaUser> {
  if (user.toLowerCase() === OWNER) throw new RefusedError(`"${user}" is not a valid user name.`);
  const found = await okta.ask({ path: [...USERS, user] }, userOf);
  const [wanted, login] = [user.toLowerCase(), found.name.toLowerCase()];
  if (found.id === user || login === wanted || login.startsWith(`${wanted}@`)) return found;
  throw new RefusedError('Okta returned a user who was not requested.');
}

async function targetOf(okta: VendorApi, call: ActionCall): Promise<OktaUser> {
  const user = await readUser(okta, userIn(call));
  judgeTarget(call, user.name);
  return user;
}

/** Suspends accounts, because a deactivation would remove groups and applications. */
const ACCOUNT = accountAction<VendorApi>({
  find: readUser,
  // Not idempotent, because Okta rejects a second suspension.
  setEnabled: (okta, { id }, enabled) =>
    okta.change({ path: [...USERS, id, 'lifecycle', enabled ? 'unsuspend' : 'suspend'] }),
});

/** https://developer.okta.com/docs/api/openapi/okta-management/management/tag/UserLifecycle/ */
export const okta = defineConnector({
  name: 'okta',
  description: 'Users of an Okta organisation, by the Okta Management API.',
  config: fields({
    org_url: address('Address of the organisation, such as https://example.okta.com.'),
    api_token: secret('API token of an administrator who may manage users.', {
      pattern: '^[!-~]+$',
    }),
  }),
  connect: ({ org_url: baseUrl, api_token }, outbound) => {
    const headers = { authorization: `SSWS ${api_token}` };
    return vendorApi(outbound, { vendor: 'Okta', baseUrl, headers, complaintIn });
  },
  actions: {
    disable_user: ACCOUNT,
    enable_user: ACCOUNT,
    revoke_sessions: {
      idempotent: true,
      send: async (okta, call) => {
        const { id, name } = await targetOf(okta, call);
        const path = [...USERS, id, 'sessions'];
        const query = { oauthTokens: 'true' };
        await okta.change({ method: 'DELETE', path, query, idempotent: true });
        return done(`The sessions of ${name} at Okta are ended, and its tokens are revoked.`);
      },
    },
    reset_password: {
      /** Okta mails the reset link. The service must not receive the link: readers of the action could use the link. */
      send: async (okta, call) => {
        const user = await targetOf(okta, call);
        const path = [...USERS, user.id, 'lifecycle', 'reset_password'];
        await okta.change({ path, query: { sendEmail: 'true' } });
        return passwordReset(user);
      },
      ask: async (okta, call) => {
        const user = await readUser(okta, userIn(call));
        return user.status === 'RECOVERY' ? passwordReset(user) : 'unknown';
      },
    },
  },
  test: async (okta) => {
    const { name } = await okta.ask({ path: [...USERS, OWNER] }, userOf);
    return `Okta accepts the token of ${name}.`;
  },
});

function userOf(json: unknown): OktaUser {
  const status = textAt(json, 'status');
  const [id, name] = [textAt(json, 'id'), textAt(json, 'profile', 'login')];
  return { id, name, status, enabled: ENABLED[status] };
}

const passwordReset = ({ name }: OktaUser) =>
  done(`The password of ${name} is reset: Okta mails a link to choose a new one.`);

/** https://developer.okta.com/docs/reference/error-codes/ */
function complaintIn(json: unknown): string | undefined {
  const code = valueAt(json, 'errorCode');
  if (typeof code !== 'string') return undefined;
  const causes = valueAt(json, 'errorCauses');
  const all = [json, ...(Array.isArray(causes) ? (causes as unknown[]) : [])];
  return said(code, ...all.map((one) => valueAt(one, 'errorSummary')));
}
