import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { isJsonObject, valueAt, nothing, textAt } from '../../calls/vendor-answers.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { fixedCredentials, VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { SHORTEST_SECRET, type Config, type ConfigSchema } from '../../../targets/target-config.js';
import {
  ConnectorType,
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
} from '../../connector-type.js';
import { probeAccount, setAccount, userIn, type Account, type Accounts } from '../../calls/undo.js';
import { judgeTarget } from '../../calls/undo.js';

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
  constructor(private readonly api: VendorApi) {}

  async find(user: string, gate: Gate | undefined): Promise<Account> {
    const { id, login, status } = await this.read(user, gate);
    return { id, name: login, enabled: isEnabled(status) };
  }

  /** Okta rejects a second suspension, so the request is not idempotent. */
  async setEnabled({ id }: Account, enabled: boolean, gate: Gate): Promise<void> {
    const path = [...USERS, id, 'lifecycle', enabled ? 'unsuspend' : 'suspend'];
    await this.api.change(gate, { method: 'POST', path, idempotent: false }, nothing);
  }

  /** Returns the login of the user. */
  async revokeSessions(call: ActionCall, gate: Gate): Promise<string> {
    const { id, login } = await this.target(call, gate);
    const request = {
      method: 'DELETE',
      path: [...USERS, id, 'sessions'],
      query: { oauthTokens: 'true' },
      idempotent: true,
    } as const;
    await this.api.change(gate, request, nothing);
    return login;
  }

  /** Okta mails the link. The service must not receive it, because readers of the action could use it. */
  async resetPassword(call: ActionCall, gate: Gate): Promise<string> {
    const { id, login } = await this.target(call, gate);
    const request = {
      method: 'POST',
      path: [...USERS, id, 'lifecycle', 'reset_password'],
      query: { sendEmail: 'true' },
      // A repetition would send a second mail.
      idempotent: false,
    } as const;
    await this.api.change(gate, request, nothing);
    return login;
  }

  /** Login of the user if a new password is pending. */
  async awaitsPassword(user: string): Promise<string | undefined> {
    const { login, status } = await this.read(user, undefined);
    return status === RECOVERY ? login : undefined;
  }

  /** For a test: login of the owner of the token. */
  async owner(timeoutMs: number): Promise<string> {
    const request = { method: 'GET', path: [...USERS, OWNER], timeoutMs } as const;
    return (await this.api.ask(undefined, request, userOf)).login;
  }

  private async target(call: ActionCall, gate: Gate): Promise<OktaUser> {
    const user = await this.read(userIn(call), gate);
    judgeTarget(call, user.login);
    return user;
  }

  /** Okta finds users by id, by login, and by the part before the @. Rejects any other user. */
  private async read(user: string, gate: Gate | undefined): Promise<OktaUser> {
    if (user.toLowerCase() === OWNER) throw new RefusedError(`"${user}" is not a valid user name.`);
    const found = await this.api.ask(gate, { method: 'GET', path: [...USERS, user] }, userOf);
    const wanted = user.toLowerCase();
    const login = found.login.toLowerCase();
    if (found.id === user || login === wanted || login.startsWith(`${wanted}@`)) return found;
    throw new RefusedError('Okta returned another user than the requested one.');
  }
}

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

const VENDOR = 'Okta';

const OKTA_ACTIONS = [
  'disable_user',
  'enable_user',
  'revoke_sessions',
  'reset_password',
] as const satisfies readonly ActionTypeName[];
type OktaAction = (typeof OKTA_ACTIONS)[number];

interface OktaConfig {
  readonly org_url: string;
  readonly api_token: string;
}

const OKTA_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    org_url: {
      type: 'string',
      format: 'uri',
      maxLength: 2_000,
      description: 'Address of the organisation, such as https://example.okta.com.',
    },
    api_token: {
      type: 'string',
      pattern: '^[!-~]+$',
      minLength: SHORTEST_SECRET,
      maxLength: 1_000,
      writeOnly: true,
      description: 'API token of an administrator who may manage users.',
    },
  },
  required: ['org_url', 'api_token'],
  additionalProperties: false,
};

class OktaConnector extends Connector {
  private readonly users: OktaUsers;

  constructor(identity: ConnectorIdentity, api: VendorApi) {
    super(identity);
    this.users = new OktaUsers(api);
  }

  provides(type: ActionTypeName): boolean {
    return isOktaAction(type);
  }

  /** All actions except a password reset can be repeated. A second reset would send a second mail. */
  idempotent(type: ActionTypeName): boolean {
    return type !== 'reset_password';
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(() => this.run(call, gate));
  }

  override async probe(call: ActionCall): Promise<Outcome | 'unknown'> {
    if (!isOktaAction(call.type) || call.type === 'revoke_sessions') return 'unknown';
    if (call.type !== 'reset_password') return await probeAccount(this.users, call);
    const login = await this.users.awaitsPassword(userIn(call));
    return login === undefined ? 'unknown' : passwordReset(login);
  }

  test(): Promise<TestResult> {
    return testResult(
      async () => `${VENDOR} accepts the token of ${await this.users.owner(TEST_TIMEOUT_MS)}.`,
    );
  }

  private async run(call: ActionCall, gate: Gate): Promise<Outcome> {
    const { type } = call;
    if (!isOktaAction(type)) throw new RefusedError(`${VENDOR} does not provide ${type}.`);
    switch (type) {
      case 'disable_user':
      case 'enable_user':
        return await setAccount(this.users, call, gate);
      case 'revoke_sessions': {
        const login = await this.users.revokeSessions(call, gate);
        const message = `The sessions of ${login} at ${VENDOR} are ended, and its tokens are revoked.`;
        return { kind: 'done', message };
      }
      case 'reset_password':
        return passwordReset(await this.users.resetPassword(call, gate));
    }
  }
}

function isOktaAction(type: ActionTypeName): type is OktaAction {
  return (OKTA_ACTIONS as readonly ActionTypeName[]).includes(type);
}

function passwordReset(login: string): Outcome {
  const message = `The password of ${login} is reset: ${VENDOR} mails a link to choose a new one.`;
  return { kind: 'done', message };
}

@Injectable()
export class OktaType extends ConnectorType {
  readonly name = 'okta';
  readonly description = 'Users of an Okta organisation, by the Okta Management API.';
  readonly actions = OKTA_ACTIONS;
  readonly schema = OKTA_SCHEMA;
  readonly destinations = [{ address: 'org_url' }];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const { org_url, api_token } = config as unknown as OktaConfig;
    const api = new VendorApi(new VendorCalls(this.http), {
      vendor: VENDOR,
      baseUrl: org_url,
      credentials: fixedCredentials({ authorization: `SSWS ${api_token}` }),
      secrets: [api_token],
      complaintIn: oktaComplaint,
      // https://developer.okta.com/docs/reference/rl-best-practices/
      limitEndsIn: 'x-rate-limit-reset',
    });
    return new OktaConnector(identity, api);
  }
}

/** https://developer.okta.com/docs/reference/error-codes/ */
function oktaComplaint(json: unknown): string | undefined {
  const code = valueAt(json, 'errorCode');
  if (typeof code !== 'string') return undefined;
  const causes = valueAt(json, 'errorCauses');
  const all = [json, ...(Array.isArray(causes) ? causes.filter(isJsonObject) : [])];
  const summaries = all.map((one) => valueAt(one, 'errorSummary'));
  return [code, ...summaries.filter((text) => typeof text === 'string')].join(', ');
}
