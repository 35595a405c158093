import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { isUuid } from '../../platform/ids.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { Connector } from '../../connectors/connector.port.js';
import type { LockedIncident } from '../../incidents/incident.js';
import { isKillSwitchActive, KillSwitch } from '../../kill-switch/kill-switch.js';
import type { Parameters } from '../action.js';
import { type DecidedAction, decidedAction } from '../execution/decided-action.js';
import { ActionCreation, type ActionToCreate } from './action-creation.js';
import { JointRequestsRepository } from './joint-requests.repository.js';
import { Twins } from './twins.js';

export interface WantedAction {
  readonly type: ActionTypeName;
  readonly parameters: Parameters;
  readonly incidentId?: string;
  /** It is wanted all the same where it was requested or done a short time ago. */
  readonly repeat?: boolean;
}

export interface ActionRequest {
  readonly caller: Principal;
  readonly wanted: WantedAction;
  /** Absent where none provides the type. */
  readonly connector?: Connector;
}

/** The hot path: requests that arrive together share one transaction, and the permit that it has read. */
@Injectable()
export class JointRequests {
  private readonly batches = new Batcher<ActionRequest, DecidedAction | undefined>((requests) =>
    this.requestTogether(requests),
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly killSwitch: KillSwitch,
    private readonly repository: JointRequestsRepository,
    private readonly creation: ActionCreation,
    private readonly twins: Twins,
  ) {}

  /**
   * Undefined for a request that needs a transaction of its own, which tells what is the matter: the kill switch is on, a
   * credential is not valid any more, the incident is gone, somebody is changing it, or the request has a twin.
   */
  async submit(request: ActionRequest): Promise<DecidedAction | undefined> {
    const { incidentId } = request.wanted;
    if (incidentId !== undefined && !isUuid(incidentId)) return undefined;
    return await this.batches.submit(request);
  }

  private async requestTogether(
    requests: readonly ActionRequest[],
  ): Promise<(DecidedAction | undefined)[]> {
    try {
      return await this.transactions.run((tx) => this.requestIn(tx, requests));
    } catch (error) {
      if (isKillSwitchActive(error)) return requests.map(() => undefined);
      throw error;
    }
  }

  private async requestIn(
    tx: Tx,
    requests: readonly ActionRequest[],
  ): Promise<(DecidedAction | undefined)[]> {
    const permit = await this.killSwitch.claimPermit(tx);
    const incidents = await this.repository.enter(
      tx,
      requests.map(({ caller }) => caller),
      requests.flatMap(({ wanted }) => wanted.incidentId ?? []),
    );
    if (!incidents) return requests.map(() => undefined);
    const incidentOf = ({ wanted: { incidentId } }: ActionRequest) =>
      incidentId === undefined ? undefined : incidents.get(incidentId.toLowerCase());
    const there = requests.filter(
      (request) => request.wanted.incidentId === undefined || incidentOf(request),
    );
    const areNew = await this.twins.areNew(
      tx,
      there.map(({ wanted }) => wanted),
    );
    const usual = there.filter((_, at) => areNew[at]);
    const actions = await this.creation.createAll(
      tx,
      usual.map((request) => toCreate(request, incidentOf(request))),
    );
    const requested = new Map(
      usual.map((request, index) => [
        request,
        decidedAction(actions[index]!, permit, request.connector),
      ]),
    );
    return requests.map((request) => requested.get(request));
  }
}

export function toCreate(
  { caller, wanted: { type, parameters }, connector }: ActionRequest,
  incident: LockedIncident | undefined,
): ActionToCreate {
  return {
    type,
    parameters,
    requestedBy: caller.name,
    available: connector !== undefined,
    incident,
    claimFor: connector?.identity.id,
  };
}
