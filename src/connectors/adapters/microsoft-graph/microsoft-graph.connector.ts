import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { listAt, valueAt, booleanAt, nothing, textAt } from '../../calls/vendor-answers.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { type Config, withDefaults, type ConfigSchema } from '../../../targets/target-config.js';
import {
  ConnectorType,
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type Preview,
  type TestResult,
  TEST_TIMEOUT_MS,
} from '../../connector-type.js';
import { probeAccount, setAccount, type Account, type Accounts, userIn } from '../../calls/undo.js';
import {
  microsoftTokens,
  MICROSOFT_LOGIN_FIELDS,
  type MicrosoftLogin,
} from '../../calls/microsoft-login.js';
import { GraphMail } from './graph-mail.js';
import { judgeTarget } from '../../calls/undo.js';

interface GraphConfig extends MicrosoftLogin {
  readonly base_url: string;
  readonly mailbox?: string;
}

const GRAPH_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      maxLength: 2_000,
      default: 'https://graph.microsoft.com',
      description: 'Address of the service. National clouds have their own.',
    },
    ...MICROSOFT_LOGIN_FIELDS,
    mailbox: {
      type: 'string',
      minLength: 1,
      maxLength: 320,
      description: 'Default mailbox for actions on mail without a recipient.',
    },
  },
  required: ['tenant_id', 'client_id', 'client_secret'],
  additionalProperties: false,
};

const VENDOR = 'Microsoft Graph';

const GRAPH_ACTIONS = [
  'quarantine_email',
  'release_email',
  'delete_email',
  'disable_user',
  'enable_user',
  'revoke_sessions',
] as const satisfies readonly ActionTypeName[];
type GraphAction = (typeof GRAPH_ACTIONS)[number];

class MicrosoftGraphConnector extends Connector {
  private readonly mail: GraphMail;
  private readonly users: GraphUsers;

  constructor(
    identity: ConnectorIdentity,
    private readonly api: VendorApi,
    mailbox: string | undefined,
  ) {
    super(identity);
    this.mail = new GraphMail(api, mailbox);
    this.users = new GraphUsers(api);
  }

  provides(type: ActionTypeName): boolean {
    return isGraphAction(type);
  }

  /** Each action checks first what is left to do. */
  idempotent(): boolean {
    return true;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(() => this.run(call, gate));
  }

  override async preview(call: ActionCall, gate: Gate): Promise<Preview | undefined> {
    const { type } = call;
    if (type !== 'quarantine_email' && type !== 'delete_email') return undefined;
    try {
      return await this.mail.preview(call, gate);
    } catch (error) {
      if (error instanceof RefusedError) return { message: error.message };
      throw error;
    }
  }

  override async probe(call: ActionCall): Promise<Outcome | 'unknown'> {
    const { type } = call;
    if (!isGraphAction(type) || type === 'revoke_sessions') return 'unknown';
    switch (type) {
      case 'quarantine_email':
      case 'release_email':
      case 'delete_email':
        return await this.mail.probe(call);
      case 'disable_user':
      case 'enable_user':
        return await probeAccount(this.users, call);
    }
  }

  /** Permissions depend on the use of the application, so a missing permission to list users is not a failure. */
  test(): Promise<TestResult> {
    return testResult(async () => {
      const query = { $select: 'id', $top: '1' };
      const path = ['v1.0', 'users'];
      try {
        await this.api.ask(
          undefined,
          { method: 'GET', path, query, timeoutMs: TEST_TIMEOUT_MS },
          (json) => listAt(json, 'value'),
        );
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== 403) throw error;
        return `${VENDOR} accepts the credentials, but they may not read users.`;
      }
      return `${VENDOR} accepts the credentials.`;
    });
  }

  private async run(call: ActionCall, gate: Gate): Promise<Outcome> {
    const { type } = call;
    if (!isGraphAction(type)) throw new RefusedError(`${VENDOR} does not provide ${type}.`);
    switch (type) {
      case 'quarantine_email':
        return await this.mail.quarantine(call, gate);
      case 'release_email':
        return await this.mail.release(call, gate);
      case 'delete_email':
        return await this.mail.delete(call, gate);
      case 'disable_user':
      case 'enable_user':
        return await setAccount(this.users, call, gate);
      case 'revoke_sessions':
        return await this.users.revokeSessions(call, gate);
    }
  }
}

function isGraphAction(type: ActionTypeName): type is GraphAction {
  return (GRAPH_ACTIONS as readonly ActionTypeName[]).includes(type);
}

@Injectable()
export class MicrosoftGraphType extends ConnectorType {
  readonly name = 'microsoft_graph';
  readonly description =
    'Microsoft 365 by Microsoft Graph: mails in Exchange Online, and accounts of Microsoft Entra ID.';
  readonly actions = GRAPH_ACTIONS;
  readonly schema = GRAPH_SCHEMA;
  readonly destinations = [{ address: 'base_url' }, { address: 'login_url' }];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, given: Config): Connector {
    const config = withDefaults(GRAPH_SCHEMA, given) as unknown as GraphConfig;
    // National clouds use their own address as the scope.
    const credentials = microsoftTokens(this.http, config, new URL(config.base_url).origin);
    const api = new VendorApi(new VendorCalls(this.http), {
      vendor: VENDOR,
      baseUrl: config.base_url,
      credentials,
      secrets: [config.client_secret],
      complaintIn: graphComplaint,
    });
    return new MicrosoftGraphConnector(identity, api, config.mailbox);
  }
}

/** https://learn.microsoft.com/en-us/graph/errors */
function graphComplaint(json: unknown): string | undefined {
  const words = [valueAt(json, 'error', 'code'), valueAt(json, 'error', 'message')];
  const said = words.filter((word) => typeof word === 'string' && word !== '');
  return said.length > 0 ? said.join(', ') : undefined;
}

const USERS = ['v1.0', 'users'];

/**
 * Accounts of Microsoft Entra ID. https://learn.microsoft.com/en-us/graph/api/user-update, user-get and
 * user-revokesigninsessions
 */
class GraphUsers implements Accounts {
  constructor(private readonly api: VendorApi) {}

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

  /** The policy has already checked a principal name. Looking it up would need another permission. */
  async revokeSessions(call: ActionCall, gate: Gate): Promise<Outcome> {
    const user = userIn(call);
    if (!user.includes('@')) judgeTarget(call, (await this.find(user, gate)).name);
    const path = [...USERS, user, 'revokeSignInSessions'];
    await this.api.change(gate, { method: 'POST', path, idempotent: true }, (json) => {
      // The documentation of the status is inconsistent. Only an explicit false is a failure.
      if (valueAt(json, 'value') !== false) return;
      throw new RefusedError('Microsoft Graph reports that the sessions were not revoked.');
    });
    const message = 'The sessions are revoked. It may take some minutes until all have ended.';
    return { kind: 'done', message };
  }
}
