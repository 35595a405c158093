import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { actionType, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import { timeOfId } from '../../platform/ids.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import {
  type Participant,
  takesPart,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Permit } from '../../kill-switch/permit.js';
import { levelReaches } from '../../platform/access/roles.js';
import { type Action, isPerson, type Parameters } from '../action.js';
import { type DecidedAction, decidedAction } from '../execution/decided-action.js';
import { ActionCreation, type ActionToCreate, type ActionToRecord } from './action-creation.js';
import {
  type ActionRequest,
  JointRequests,
  toCreate,
  type WantedAction,
} from './joint-requests.js';
import { parameterErrors } from './parameter-rules.js';
import { ActionsRepository } from '../records/actions.repository.js';
import { DuplicateActionError } from './requests.errors.js';
import { type Twin, Twins } from './twins.js';

/** Creates actions, waiting for approval or ready to run. It runs none. */
@Injectable()
export class ActionRequests {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly killSwitch: KillSwitch,
    private readonly registry: ConnectorRegistry,
    private readonly joint: JointRequests,
    private readonly creation: ActionCreation,
    private readonly twins: Twins,
    private readonly actions: ActionsRepository,
  ) {}

  requireValid(type: ActionTypeName, parameters: Parameters): void {
    const errors = parameterErrors(actionType(type), parameters);
    if (errors.length > 0) throw new ValidationError(errors);
  }

  /** What may run at once is claimed by the transaction that creates it, which has read the kill switch anyway. */
  async request(
    caller: Principal,
    wanted: WantedAction,
    idempotency: Participant<Action>,
  ): Promise<DecidedAction> {
    this.requireValid(wanted.type, wanted.parameters);
    if (!takesPart(idempotency)) {
      const connector = await this.registry.providerOf(wanted.type);
      const requested = await this.joint.submit({ caller, wanted, connector });
      if (requested) return requested;
    }
    // The 404 comes before the kill switch's 409; inside the transaction its lock has to come first.
    if (wanted.incidentId !== undefined) await this.incidents.get(wanted.incidentId);
    const connector = await this.registry.providerOf(wanted.type);
    return await this.requestAlone({ caller, wanted, connector }, idempotency);
  }

  /**
   * For modules that create actions in transactions of their own; whoever calls it then runs what is `pending`. An action of
   * others that does the same is answered instead: it is locked, so that it ends after the transaction.
   */
  async createOrBorrow(tx: Tx, wanted: ActionToCreate): Promise<Action> {
    for (;;) {
      const twin = await this.twins.of(tx, wanted);
      if (!twin || !this.isEnough(twin, wanted)) return await this.createIn(tx, wanted);
      const action = await this.actions.lockById(tx, twin.id);
      if (action?.status === twin.status) return action;
    }
  }

  /**
   * What was, or will be, approved at a lower level than the step needs passes no gate of the step. What was done for a moment
   * before the incident began does nothing about it.
   */
  private isEnough(
    { approvalLevel, requestedBy, executedAt }: Twin,
    wanted: ActionToCreate,
  ): boolean {
    const began = wanted.incident && timeOfId(wanted.incident.id);
    const isOver = executedAt && began && executedAt.getTime() < began;
    if (isOver && actionType(wanted.type).momentary) return false;
    // Whoever requests actions in person is an analyst at least.
    const level = approvalLevel ?? (isPerson(requestedBy) ? 'analyst' : 'none');
    return levelReaches(level, this.creation.levelFor(wanted));
  }

  /** The same for an action whose level is decided. */
  async record(tx: Tx, wanted: ActionToRecord): Promise<Action> {
    return (await this.creation.recordAll(tx, [wanted]))[0]!;
  }

  private async createIn(tx: Tx, wanted: ActionToCreate): Promise<Action> {
    return (await this.creation.createAll(tx, [wanted]))[0]!;
  }

  private async requestAlone(
    request: ActionRequest,
    idempotency: Participant<Action>,
  ): Promise<DecidedAction> {
    const { caller, wanted } = request;
    let permit: Permit | undefined;
    const action = await this.transactions.run<Action>(
      async (tx) => {
        permit = await this.killSwitch.claimPermit(tx);
        const incident = await this.lockIncident(tx, wanted);
        const twin = await this.twins.of(tx, wanted);
        if (twin) throw new DuplicateActionError(twin);
        return await this.createIn(tx, toCreate(request, incident));
      },
      caller,
      idempotency,
    );
    return decidedAction(action, permit, request.connector);
  }

  private async lockIncident(
    tx: Tx,
    { incidentId }: WantedAction,
  ): Promise<LockedIncident | undefined> {
    if (incidentId === undefined) return undefined;
    const incident = await this.incidents.lockForShare(tx, incidentId);
    if (!incident) throw new NotFoundError('Incident');
    return incident;
  }
}
