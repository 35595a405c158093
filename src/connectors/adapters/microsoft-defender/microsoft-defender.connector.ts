import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { shownStart } from '../../../platform/text.js';
import { textAt } from '../../calls/vendor-answers.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { type Config, withDefaults } from '../../../targets/target-config.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  ConnectorType,
} from '../../connector-type.js';
import { foundSo, marked, nothingToUndo, judgeTarget } from '../../calls/undo.js';
import { microsoftTokens } from '../../calls/microsoft-login.js';
import {
  complaintIn,
  DefenderApi,
  DEFENDER_SCHEMA,
  type DefenderConfig,
  DEFENDER_ACTIONS,
  type DefenderAction,
  isDefenderAction,
  outcomeOf,
  ownOf,
  standOf,
  wishOf,
} from './defender-api.js';

const LONGEST_REASON = 500;
/** Resource of the permissions, for every server of the service. */
const RESOURCE = 'https://api.securitycenter.microsoft.com';

/** Defender creates a machine action for each request, and completes it when the host has received it. */
class MicrosoftDefenderConnector extends Connector {
  constructor(
    identity: ConnectorIdentity,
    private readonly defender: DefenderApi,
  ) {
    super(identity);
  }

  provides(type: ActionTypeName): boolean {
    return isDefenderAction(type);
  }

  /** Isolating a host twice has the same effect. Each scan is a new one. */
  idempotent(type: ActionTypeName): boolean {
    return type !== 'scan_host';
  }

  execute(call: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(async () => {
      const { type } = call;
      if (!isDefenderAction(type)) throw new RefusedError(`${type} is not provided.`);
      const nothing = nothingToUndo(call);
      if (nothing) return nothing;
      const { id: machineId, name } = await this.defender.machine(hostOf(call), gate);
      judgeTarget(call, name);
      if (type === 'scan_host') return await this.send(call, type, machineId, gate);
      const already = standOf(type, await this.defender.actionsOn(machineId, gate));
      if (already) return foundSo(already, call);
      return await this.isolate(call, type, machineId, gate);
    });
  }

  override async poll(handle: Record<string, unknown>, { type }: ActionCall): Promise<Outcome> {
    const action = await this.defender.action(textAt(handle, 'machine_action_id'));
    return marked(outcomeOf(type as DefenderAction, action), handle.changed);
  }

  override async probe(call: ActionCall): Promise<Outcome | 'unknown'> {
    const type = call.type as DefenderAction;
    const { id } = await this.defender.machine(hostOf(call));
    const actions = await this.defender.actionsOn(id);
    const own = ownOf(type, call.actionId, actions);
    if (own) return outcomeOf(type, own);
    return standOf(type, actions) ?? 'unknown';
  }

  test(): Promise<TestResult> {
    return testResult(async () => {
      await this.defender.look();
      return 'Defender accepts the credentials.';
    });
  }

  private async isolate(
    call: ActionCall,
    type: DefenderAction,
    machineId: string,
    gate: Gate,
  ): Promise<Outcome> {
    try {
      return marked(await this.send(call, type, machineId, gate), true);
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 400) throw error;
      // Another machine action is in progress: this one, if an answer was lost, or one of somebody else.
      const stand = standOf(type, await this.defender.actionsOn(machineId, gate));
      if (!stand) throw error;
      return stand;
    }
  }

  private async send(
    call: ActionCall,
    type: DefenderAction,
    machineId: string,
    gate: Gate,
  ): Promise<Outcome> {
    const { command } = wishOf(type);
    const body = bodyOf(call, type);
    const idempotent = this.idempotent(type);
    return outcomeOf(type, await this.defender.command(gate, machineId, command, body, idempotent));
  }
}

/** For a rollback: the id of the isolated host, because another host may have its name now. */
function hostOf({ parameters, undoes }: ActionCall): string {
  return String(undoes?.machine_id ?? parameters.host_id);
}

function bodyOf({ actionId, parameters }: ActionCall, type: DefenderAction): object {
  const { reason, scan_type } = parameters;
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  const Comment = `Incident triage ${actionId}${shownStart(why, LONGEST_REASON)}`;
  if (type === 'isolate_host') return { Comment, IsolationType: 'Full' };
  if (type === 'unisolate_host') return { Comment };
  return { Comment, ScanType: scan_type === 'full' ? 'Full' : 'Quick' };
}

@Injectable()
export class MicrosoftDefenderType extends ConnectorType {
  readonly name = 'microsoft_defender';
  readonly description =
    'Microsoft Defender for Endpoint: isolates hosts, releases them, and starts antivirus scans.';
  readonly actions = DEFENDER_ACTIONS;
  readonly schema = DEFENDER_SCHEMA;
  readonly destinations = [{ address: 'base_url' }, { address: 'login_url' }];

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const all = withDefaults(this.schema, config) as unknown as DefenderConfig;
    const api = new VendorApi(new VendorCalls(this.http), {
      vendor: 'Defender',
      baseUrl: all.base_url,
      credentials: microsoftTokens(this.http, all, RESOURCE),
      secrets: [all.client_secret],
      complaintIn,
    });
    return new MicrosoftDefenderConnector(identity, new DefenderApi(api));
  }
}
