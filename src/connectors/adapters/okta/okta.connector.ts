import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/gate.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { isJsonObject, valueAt } from '../../calls/answer-shape.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/refused.error.js';
import { fixedCredentials, VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { SHORTEST_SECRET, type Config, type ConfigSchema } from '../../config/config-schema.js';
import { ConnectorType } from '../../connector-type.port.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
} from '../../connector.port.js';
import { probeAccount, setAccount, userIn } from '../accounts.js';
import { OktaUsers } from './okta-users.js';

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

export const OKTA_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    org_url: {
      type: 'string',
      format: 'uri',
      maxLength: 2_000,
      description: 'The address of the organisation, such as https://example.okta.com.',
    },
    api_token: {
      type: 'string',
      pattern: '^[!-~]+$',
      minLength: SHORTEST_SECRET,
      maxLength: 1_000,
      writeOnly: true,
      description: 'A token of an administrator who may manage users.',
    },
  },
  required: ['org_url', 'api_token'],
  additionalProperties: false,
};

export class OktaConnector extends Connector {
  private readonly users: OktaUsers;

  constructor(identity: ConnectorIdentity, api: VendorApi) {
    super(identity);
    this.users = new OktaUsers(api);
  }

  provides(type: ActionTypeName): boolean {
    return isOktaAction(type);
  }

  /** Each action but one looks first at what is left to do, or may be done twice. A second reset would send a second mail. */
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
        const message = `The sessions of ${login} with ${VENDOR} are ended, and its tokens revoked.`;
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
