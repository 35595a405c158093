import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { Clock } from '../../platform/clock.js';
import { NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { Settings } from '../../platform/config/settings.js';
import type { Connector } from '../../connectors/connector.port.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import { type Action, type Parameters, withExpiry } from '../action.js';
import { RequiredLevels } from '../policy/required-levels.js';
import { ActionRecorder } from '../records/action-recorder.js';
import { ActionsRepository, type NewAction } from '../records/actions.repository.js';
import { AwaitedRuns } from '../execution/awaited-runs.js';
import { NO_CONNECTOR } from '../execution/execution-rules.js';
import { parameterErrors } from './parameter-rules.js';

export interface WantedAction {
  readonly type: ActionTypeName;
  readonly parameters: Parameters;
  readonly incidentId?: string;
}

export interface ActionToCreate extends Omit<WantedAction, 'incidentId'> {
  /** Locked by the transaction that creates the action. */
  readonly incident?: LockedIncident;
  readonly requestedBy: string;
  /** Of a step of a playbook run: the run, and who started it. */
  readonly playbookRunId?: string;
  readonly onBehalfOf?: string;
  /** A level that a playbook step asks for: it can raise, never lower. */
  readonly askedLevel?: ApprovalLevel;
  /** Whether a connector provides the type, asked before the transaction. */
  readonly available: boolean;
  /** The connector to claim it for, where it may run at once; the transaction needs a permit then. */
  readonly claimFor?: string;
}

/** An action whose level is decided. */
export type ActionToRecord = Omit<
  NewAction,
  'id' | 'requestedAt' | 'status' | 'result' | 'graceMs'
> & {
  /** Whether an enabled connector provides it: what none does has failed at once. */
  readonly available: boolean;
};

export interface RequestedAction {
  readonly action: Action;
  /** Present where it may run at once: the action is claimed, and this is what its run needs. */
  readonly run?: { readonly permit: Permit; readonly connector: Connector };
}

/** Creates actions, waiting for approval or ready to run. It runs none. */
@Injectable()
export class ActionRequests {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly killSwitch: KillSwitch,
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly runs: AwaitedRuns,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  async isAvailable(type: ActionTypeName): Promise<boolean> {
    return (await this.registry.providerOf(type)) !== undefined;
  }

  requireValid(type: ActionTypeName, parameters: Parameters): void {
    const errors = parameterErrors(actionType(type), parameters);
    if (errors.length > 0) throw new ValidationError(errors);
  }

  /** What may run at once is claimed by the transaction that creates it, which has read the kill switch anyway. */
  async request(
    caller: Principal,
    { type, parameters, incidentId }: WantedAction,
    idempotency: Participant<Action>,
  ): Promise<RequestedAction> {
    this.requireValid(type, parameters);
    // The 404 comes before the kill switch's 409; inside the transaction its lock has to come first.
    if (incidentId !== undefined) await this.incidents.get(incidentId);
    const connector = await this.registry.providerOf(type);
    let permit: Permit | undefined;
    const action = await this.transactions.run<Action>(
      async (tx) => {
        permit = await this.killSwitch.claimPermit(tx);
        const incident =
          incidentId === undefined ? undefined : await this.lockIncident(tx, incidentId);
        return await this.createIn(tx, {
          type,
          parameters,
          requestedBy: caller.name,
          available: connector !== undefined,
          incident,
          claimFor: connector?.identity.id,
        });
      },
      caller,
      idempotency,
    );
    const run = action.phase && permit && connector ? { permit, connector } : undefined;
    return { action, run };
  }

  /** For modules that create actions in transactions of their own; whoever calls it then runs what is `pending`. */
  async createIn(tx: Tx, wanted: ActionToCreate): Promise<Action> {
    const { type, parameters, incident, requestedBy, available, claimFor } = wanted;
    const { playbookRunId, onBehalfOf } = wanted;
    const level = this.levels.forRequest({
      type,
      parameters,
      incidentSeverity: incident?.severity,
      askedLevel: wanted.askedLevel,
    });
    const runsAtOnce = available && level === 'none';
    return await this.record(tx, {
      type,
      parameters,
      requestedBy,
      playbookRunId,
      onBehalfOf,
      available,
      incidentId: incident?.id,
      approvalLevel: level === 'none' ? undefined : level,
      claim:
        runsAtOnce && claimFor
          ? { connectorId: claimFor, leaseMs: this.settings.actionLeaseMs }
          : undefined,
    });
  }

  /** Inserts the action with its records: it waits for approval where it has a level, else it may run. */
  async record(tx: Tx, { available, ...wanted }: ActionToRecord): Promise<Action> {
    const requestedAt = this.clock.now();
    const status = wanted.approvalLevel ? 'pending_approval' : 'pending';
    const action = await this.actions.insert(tx, {
      ...wanted,
      id: newId(requestedAt.getTime()),
      requestedAt,
      status: available ? status : 'failed',
      graceMs: this.runs.graceMs,
      result: available ? undefined : NO_CONNECTOR,
    });
    await this.recorder.record(tx, 'requested', wanted.requestedBy, [action]);
    if (!available) await this.recorder.record(tx, 'failed', wanted.requestedBy, [action]);
    return withExpiry(action, this.settings.approvalTtlMinutes);
  }

  private async lockIncident(tx: Tx, id: string): Promise<LockedIncident> {
    const incident = await this.incidents.lockForShare(tx, id);
    if (!incident) throw new NotFoundError('Incident');
    return incident;
  }
}
