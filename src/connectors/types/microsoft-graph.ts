import { address, fields, text } from '../../targets/target-config.js';
import { MICROSOFT_LOGIN_FIELDS, microsoftTokens } from '../calls/access-tokens.js';
import { type Account, accountAction, judgeTarget, userIn } from '../calls/target-state.js';
import { booleanAt, listAt, RefusedError, said, textAt, valueAt } from '../calls/vendor-answers.js';
import { type VendorApi, vendorApi } from '../calls/vendor-api.js';
import { defineConnector } from '../connector-type.js';
import { type GraphMail, MAIL_ACTIONS } from './microsoft-graph-mail.js';

const USERS = ['v1.0', 'users'];

/** https://learn.microsoft.com/en-us/graph/api/user-get */
function readUser(api: VendorApi, user: string): Promise<Account> {
  const query = { $select: 'id,userPrincipalName,accountEnabled' };
  return api.ask({ path: [...USERS, user], query }, (json) => ({
    id: textAt(json, 'id'),
    name: textAt(json, 'userPrincipalName'),
    enabled: booleanAt(json, 'accountEnabled'),
  }));
}

/** https://learn.microsoft.com/en-us/graph/api/user-update */
const ACCOUNT = accountAction<GraphMail>({
  find: ({ api }, user) => readUser(api, user),
  setEnabled: ({ api }, { id }, accountEnabled) =>
    api.change({
      method: 'PATCH',
      path: [...USERS, id],
      body: { accountEnabled },
      idempotent: true,
    }),
});

/** Each action checks first what is left to do, so it can be repeated. */
export const microsoftGraph = defineConnector({
  name: 'microsoft_graph',
  description:
    'Microsoft 365 by Microsoft Graph: mails in Exchange Online, and accounts of Microsoft Entra ID.',
  config: fields(
    {
      base_url: address('Address of the service. National clouds have their own.', {
        default: 'https://graph.microsoft.com',
      }),
      ...MICROSOFT_LOGIN_FIELDS,
      mailbox: text('Default mailbox for actions on mail without a recipient.', {
        minLength: 1,
        maxLength: 320,
      }),
    },
    ['tenant_id', 'client_id', 'client_secret'],
  ),
  connect: (config, outbound) => {
    const api = vendorApi(outbound, {
      vendor: 'Microsoft Graph',
      baseUrl: config.base_url,
      // National clouds use their own address as the scope.
      tokens: microsoftTokens(outbound, config, new URL(config.base_url).origin),
      complaintIn,
    });
    return (gate) => ({ api: api(gate), defaultMailbox: config.mailbox });
  },
  actions: {
    ...MAIL_ACTIONS,
    disable_user: ACCOUNT,
    enable_user: ACCOUNT,
    revoke_sessions: {
      idempotent: true,
      /** https://learn.microsoft.com/en-us/graph/api/user-revokesigninsessions */
      send: async ({ api }, call) => {
        const user = userIn(call);
        // The policy has already checked a principal name. Looking it up would need another permission.
        if (!user.includes('@')) judgeTarget(call, (await readUser(api, user)).name);
        const path = [...USERS, user, 'revokeSignInSessions'];
        await api.change({ path, idempotent: true }, (json) => {
          // The documentation of the status is inconsistent. Only an explicit false is a failure.
          if (valueAt(json, 'value') !== false) return;
          throw new RefusedError('Microsoft Graph reports that the sessions were not revoked.');
        });
        const message = 'The sessions are revoked. It may take some minutes until all have ended.';
        return { kind: 'done', message };
      },
    },
  },
  /** Permissions depend on the use of the application, so a missing permission to list users is not a failure. */
  test: async ({ api }) => {
    const query = { $select: 'id', $top: '1' };
    try {
      await api.test({ path: USERS, query }, (json) => listAt(json, 'value'));
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 403) throw error;
      return 'Microsoft Graph accepts the credentials, but they may not read users.';
    }
    return 'Microsoft Graph accepts the credentials.';
  },
});

/** https://learn.microsoft.com/en-us/graph/errors */
function complaintIn(json: unknown): string | undefined {
  return said(valueAt(json, 'error', 'code'), valueAt(json, 'error', 'message'));
}
