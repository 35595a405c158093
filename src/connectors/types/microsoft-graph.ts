import type { Gate } from '../../platform/net/outbound-request.js';
import { address, fields } from '../../targets/target-config.js';
import { MICROSOFT_LOGIN_FIELDS, microsoftTokens } from '../calls/microsoft-login.js';
import {
  type Account,
  type Accounts,
  judgeTarget,
  probeAccount,
  setAccount,
  userIn,
} from '../calls/undo.js';
import {
  booleanAt,
  listAt,
  nothing,
  RefusedError,
  textAt,
  valueAt,
} from '../calls/vendor-answers.js';
import { VendorApi } from '../calls/vendor-api.js';
import { type ActionDefinition, defineConnector, TEST_TIMEOUT_MS } from '../connector-type.js';
import { GraphMail } from './microsoft-graph-mail.js';

const USERS = ['v1.0', 'users'];

/**
 * Accounts of Microsoft Entra ID. https://learn.microsoft.com/en-us/graph/api/user-update, user-get and
 * user-revokesigninsessions
 */
class GraphUsers implements Accounts {
  constructor(readonly api: VendorApi) {}

  async find(user: string, gate: Gate | undefined): Promise<Account> {
    const path = [...USERS, user];
    const query = { $select: 'id,userPrincipalName,accountEnabled' };
    return await this.api.ask(gate, { method: 'GET', path, query }, (json) => ({
      id: textAt(json, 'id'),
      name: textAt(json, 'userPrincipalName'),
      enabled: booleanAt(json, 'accountEnabled'),
    }));
  }

  async setEnabled({ id }: Account, enabled: boolean, gate: Gate): Promise<void> {
    const path = [...USERS, id];
    const body = { accountEnabled: enabled };
    await this.api.change(gate, { method: 'PATCH', path, body, idempotent: true }, nothing);
  }
}

interface Graph {
  readonly users: GraphUsers;
  readonly mail: GraphMail;
}

const ACCOUNT: ActionDefinition<Graph> = {
  idempotent: true,
  send: ({ users }, call, gate) => setAccount(users, call, gate),
  ask: ({ users }, call) => probeAccount(users, call),
};

const onMail = (send: 'quarantine' | 'release' | 'delete'): ActionDefinition<Graph> => ({
  idempotent: true,
  send: ({ mail }, call, gate) => mail[send](call, gate),
  ask: ({ mail }, call) => mail.probe(call),
});
const preview: ActionDefinition<Graph>['preview'] = ({ mail }, call, gate) =>
  mail.preview(call, gate);

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
      mailbox: {
        type: 'string',
        minLength: 1,
        maxLength: 320,
        description: 'Default mailbox for actions on mail without a recipient.',
      },
    },
    ['tenant_id', 'client_id', 'client_secret'],
  ),
  destinations: [{ address: 'base_url' }, { address: 'login_url' }],
  connect: (config, outbound): Graph => {
    const api = new VendorApi(outbound, {
      vendor: 'Microsoft Graph',
      baseUrl: config.base_url,
      // National clouds use their own address as the scope.
      credentials: microsoftTokens(outbound, config, new URL(config.base_url).origin),
      secrets: [config.client_secret],
      complaintIn,
    });
    return { users: new GraphUsers(api), mail: new GraphMail(api, config.mailbox) };
  },
  actions: {
    quarantine_email: { ...onMail('quarantine'), preview },
    release_email: onMail('release'),
    delete_email: { ...onMail('delete'), preview },
    disable_user: ACCOUNT,
    enable_user: ACCOUNT,
    revoke_sessions: {
      idempotent: true,
      send: async ({ users }, call, gate) => {
        const user = userIn(call);
        // The policy has already checked a principal name. Looking it up would need another permission.
        if (!user.includes('@')) judgeTarget(call, (await users.find(user, gate)).name);
        const path = [...USERS, user, 'revokeSignInSessions'];
        await users.api.change(gate, { method: 'POST', path, idempotent: true }, (json) => {
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
  test: async ({ users: { api } }) => {
    const query = { $select: 'id', $top: '1' };
    const request = { method: 'GET', path: USERS, query, timeoutMs: TEST_TIMEOUT_MS } as const;
    try {
      await api.ask(undefined, request, (json) => listAt(json, 'value'));
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 403) throw error;
      return 'Microsoft Graph accepts the credentials, but they may not read users.';
    }
    return 'Microsoft Graph accepts the credentials.';
  },
});

/** https://learn.microsoft.com/en-us/graph/errors */
function complaintIn(json: unknown): string | undefined {
  const words = [valueAt(json, 'error', 'code'), valueAt(json, 'error', 'message')];
  const said = words.filter((word) => typeof word === 'string' && word !== '');
  return said.length > 0 ? said.join(', ') : undefined;
}
