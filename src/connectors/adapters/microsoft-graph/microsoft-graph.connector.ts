import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/gate.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { listAt, valueAt } from '../../calls/answer-shape.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/refused.error.js';
import { VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { type Config, withDefaults } from '../../config/config-schema.js';
import { ConnectorType } from '../../connector-type.port.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
} from '../../connector.port.js';
import { probeAccount, setAccount } from '../accounts.js';
import { microsoftTokens } from '../microsoft-login.js';
import { GRAPH_SCHEMA, type GraphConfig } from './graph-config.js';
import { GraphMail } from './graph-mail.js';
import { GraphUsers } from './graph-users.js';

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

export class MicrosoftGraphConnector extends Connector {
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

  /** Each action looks first at what is left to do. */
  idempotent(): boolean {
    return true;
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(() => this.run(call, gate));
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

  /** Which permissions the application has depends on what it is for: that it may not list users is no failure. */
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
        return `${VENDOR} accepts the credentials, which may not read users.`;
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
    // National clouds name the service by its own address.
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
