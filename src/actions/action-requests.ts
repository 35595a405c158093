import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { Settings } from '../platform/config/settings.js';
import {
  afterCommit,
  type Tx,
  type Participant,
  takesPart,
  Transactions,
} from '../platform/database/transactions.js';
import { newId, isUuid, timeOfId } from '../platform/ids.js';
import { type ApprovalLevel, levelReaches } from '../platform/access/roles.js';
import { type ActionTypeName, actionType } from '../action-catalogue/action-types.js';
import type { LockedIncident } from '../incidents/incident.js';
import {
  type Action,
  type ActionResult,
  type ActionStatus,
  executedBy,
  type Parameters,
  type RequiredLevel,
  withExpiry,
  isPerson,
} from './action.js';
import {
  AwaitedRuns,
  claimPermitLate,
  type DecidedAction,
  decidedAction,
} from './execution/awaited-runs.js';
import { endOf, noConnector, simulatedResult } from './execution/execution-rules.js';
import { RequiredLevels } from './required-levels.js';
import { type ActionChanged, ActionRecorder } from './action-records.js';
import { ActionsRepository } from './actions.repository.js';
import type { Principal } from '../auth/principal.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { type Connector, ConnectorRegistry } from '../connectors/connector.port.js';
import { SetOf } from '../platform/concurrency/joint-transactions.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import { KillSwitch, type Permit } from '../kill-switch/kill-switch.js';
import { parameterErrors } from './parameter-rules.js';
import { DuplicateActionError, EARLIER, type Twin, Twins } from './action-twins.js';
export interface ActionToCreate {
  readonly action_type: ActionTypeName;
  readonly parameters: Parameters;
  /** Incident, locked by the transaction that creates the action. */
  readonly incident?: LockedIncident;
  readonly requested_by: string;
  /** For a step of a playbook run: the run, and who started it. */
  readonly playbook_run_id?: string;
  readonly on_behalf_of?: string;
  readonly authors?: readonly string[];
  /** Minimum level of the playbook step. It can raise the level, and never lowers it. */
  readonly askedLevel?: ApprovalLevel;
  /** Whether a connector provides the type. Read before the transaction. */
  readonly available: boolean;
  /** Connector that claims the action if it may run at once. The transaction needs a permit then. */
  readonly claimFor?: string;
  /** The result that its connector only computes: where it needs no approval, the action ends with its creation. */
  readonly simulated?: ActionResult;
  /** The recovery begins the action as soon as its connector has a place. */
  readonly forRecovery?: boolean;
}

/** An action whose level is judged. */
export interface ActionToRecord extends Pick<
  Action,
  | 'action_type'
  | 'parameters'
  | 'requested_by'
  | 'playbook_run_id'
  | 'on_behalf_of'
  | 'authors'
  | 'rollback_of'
  | 'reason'
  | 'approval_level'
> {
  readonly incident?: LockedIncident;
  /** Whether an enabled connector provides the type. Without one the action fails at once. */
  readonly available: boolean;
  /** The connector that it is claimed for, or that has ended it. */
  readonly connector_id?: string;
  /** The result of an action that ends with its creation. */
  readonly simulated?: ActionResult;
  readonly forRecovery?: boolean;
}

/** Judges the level of new actions, and inserts them with their records. */
@Injectable()
export class ActionCreation {
  constructor(
    private readonly levels: RequiredLevels,
    private readonly actions: ActionsRepository,
    private readonly recorder: ActionRecorder,
    private readonly runs: AwaitedRuns,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Returns the actions in the order of `wanted`. */
  async createAll(tx: Tx, wanted: readonly ActionToCreate[]): Promise<Action[]> {
    return await this.recordAll(
      tx,
      wanted.map((one) => this.judged(one)),
    );
  }

  /** Inserts the actions. An action with a level waits for approval; any other action may run. */
  async recordAll(tx: Tx, wanted: readonly ActionToRecord[]): Promise<Action[]> {
    if (wanted.length === 0) return [];
    const ttl = this.settings.approvalTtlMinutes;
    const actions = wanted.map((one) => withExpiry(this.actionOf(one), ttl));
    const changes = actions.flatMap(changesOf);
    const records = this.recorder.recordsOf(changes);
    const rows = actions.map((action, at) => {
      return { action, leaseMs: this.leaseMsOf(action, wanted[at]!) };
    });
    await this.actions.insertAll(tx, rows, records);
    afterCommit(tx, () => this.recorder.recorded(records, changes));
    return actions;
  }

  levelFor({ action_type, parameters, incident, askedLevel }: ActionToCreate): ApprovalLevel {
    const incidentSeverity = incident?.severity;
    return this.levels.forRequest({ action_type, parameters, incidentSeverity, askedLevel });
  }

  /** Whether the action ends with its creation: its connector only computes the result, and nobody has to approve it. */
  endsAtOnce(wanted: ActionToCreate): boolean {
    return this.judged(wanted).simulated !== undefined;
  }

  private judged({ askedLevel, claimFor, simulated, ...wanted }: ActionToCreate): ActionToRecord {
    const { available } = wanted;
    const level = this.levelFor({ ...wanted, askedLevel });
    const mayRun = available && level === 'none';
    return {
      ...wanted,
      approval_level: level === 'none' ? undefined : level,
      connector_id: mayRun ? claimFor : undefined,
      simulated: mayRun && claimFor !== undefined ? simulated : undefined,
    };
  }

  private actionOf({ available, forRecovery: _, simulated, ...wanted }: ActionToRecord): Action {
    const requestedAt = this.clock.now();
    const isClaimed = wanted.connector_id !== undefined;
    return {
      ...wanted,
      id: newId(requestedAt.getTime()),
      incident_id: wanted.incident?.id,
      requested_at: requestedAt,
      status: simulated ? endOf(simulated) : statusOf(wanted.approval_level, available),
      result: available ? simulated : noConnector(wanted),
      phase: isClaimed && !simulated ? 'claimed' : undefined,
      fence: isClaimed ? 1 : 0,
      sent: false,
      ...(simulated && { executed_by: executedBy(wanted), executed_at: requestedAt }),
    };
  }

  private leaseMsOf({ phase }: Action, { forRecovery }: ActionToRecord): number {
    if (forRecovery) return 0;
    return phase ? this.settings.actionLeaseMs : this.runs.graceMs;
  }
}

function statusOf(approvalLevel: RequiredLevel | undefined, available: boolean): ActionStatus {
  if (!available) return 'failed';
  return approvalLevel ? 'pending_approval' : 'pending';
}

/** An action that no connector provides has failed at once, and an action that is only simulated has ended. */
function changesOf(action: Action): ActionChanged[] {
  const { status, requested_by, executed_at, executed_by: by = requested_by } = action;
  // A simulated action was requested before it ended, as any other action was.
  const asRequested = executed_at ? { ...action, status: 'pending' as const } : action;
  const requested = { change: 'requested', actor: requested_by, action: asRequested } as const;
  if (status !== 'failed' && status !== 'completed') return [requested];
  return [requested, { change: status, actor: by, action, atOnce: true }];
}

export interface WantedAction {
  readonly action_type: ActionTypeName;
  readonly parameters: Parameters;
  readonly incident_id?: string;
  /** Requests the action also if it was requested or done a short time ago. */
  readonly repeat?: boolean;
}

interface ActionRequest {
  readonly caller: Principal;
  readonly wanted: WantedAction;
  /** Absent if no enabled connector provides the type. */
  readonly connector?: Connector;
}

/** Creates actions, waiting for approval or ready to run. It runs none. */
@Injectable()
export class ActionRequests {
  private readonly batches = new Batcher<ActionRequest, Requested | undefined>((requests) =>
    this.requestTogether(requests),
  );
  private readonly borrowings = new SetOf<readonly ActionToCreate[], Action[]>((tx, wanted) =>
    this.createOrBorrowAll(tx, wanted),
  );

  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly killSwitch: KillSwitch,
    private readonly registry: ConnectorRegistry,
    private readonly creation: ActionCreation,
    private readonly twins: Twins,
    private readonly actions: ActionsRepository,
  ) {}

  requireValid(type: ActionTypeName, parameters: Parameters): void {
    const errors = parameterErrors(actionType(type), parameters);
    if (errors.length > 0) throw new ValidationError(errors);
  }

  /**
   * Creates an action. An action that may run at once is claimed by the transaction that creates it, which has read the kill
   * switch anyway. Requests that arrive together share one transaction.
   */
  async request(
    caller: Principal,
    wanted: WantedAction,
    idempotency: Participant<Action>,
  ): Promise<DecidedAction> {
    this.requireValid(wanted.action_type, wanted.parameters);
    const connector = await this.registry.providerOf(wanted.action_type);
    const request = { caller, wanted, connector };
    const requested = takesPart(idempotency) ? undefined : await this.batches.submit(request);
    return outcomeOf(requested ?? (await this.requestAlone(request, idempotency)));
  }

  /**
   * For modules that create actions in transactions of their own; whoever calls it then runs what is `pending`. An action of
   * others that does the same is answered instead: it is locked, so that it ends after the transaction.
   *
   * @param wanted the actions of successive steps. Returns those of the first steps: each but the last has ended with its creation.
   */
  async createOrBorrow(tx: Tx, wanted: readonly ActionToCreate[]): Promise<Action[]> {
    return await this.borrowings.submit(tx, wanted);
  }

  private async createOrBorrowAll(
    tx: Tx,
    all: readonly (readonly ActionToCreate[])[],
  ): Promise<Action[][]> {
    const answers = new Map<ActionToCreate, Action>();
    let open = all;
    while (open.length > 0) {
      const wanted = open.flat();
      const twins = await this.twins.of(tx, wanted);
      const twinOf = new Map(wanted.map((one, at) => [one, twins[at]]));
      const isNew = (one: ActionToCreate): boolean => {
        const twin = twinOf.get(one);
        return twin === undefined || (twin !== EARLIER && !this.isEnough(twin, one));
      };
      const fresh = open.flatMap((steps) => this.creatable(steps, isNew));
      const created = await this.creation.createAll(tx, fresh);
      fresh.forEach((one, at) => answers.set(one, created[at]!));
      for (const [first] of open) {
        const twin = twinOf.get(first!);
        if (twin === undefined || twin === EARLIER || answers.has(first!)) continue;
        const action = await this.actions.lockById(tx, twin.id);
        if (action?.status === twin.status) answers.set(first!, action);
      }
      // What repeats a request of this set finds its action the next time.
      open = open.filter(([first]) => !answers.has(first!));
    }
    return all.map((steps) => steps.flatMap((one) => answers.get(one) ?? []));
  }

  /** The first steps whose actions are new. Each but the last ends with its creation. */
  private creatable(
    steps: readonly ActionToCreate[],
    isNew: (one: ActionToCreate) => boolean,
  ): readonly ActionToCreate[] {
    const borrowed = steps.findIndex((one) => !isNew(one));
    const first = borrowed < 0 ? steps : steps.slice(0, borrowed);
    const lasting = first.findIndex((one) => !this.creation.endsAtOnce(one));
    return lasting < 0 ? first : first.slice(0, lasting + 1);
  }

  /**
   * What was, or will be, approved at a lower level than the step needs passes no gate of the step. What was done for a moment
   * before the incident began does nothing about it.
   */
  private isEnough(
    { approval_level, requested_by, executed_at }: Twin,
    wanted: ActionToCreate,
  ): boolean {
    const began = wanted.incident && timeOfId(wanted.incident.id);
    const isOver = executed_at && began && executed_at.getTime() < began;
    if (isOver && actionType(wanted.action_type).momentary) return false;
    // Whoever requests actions in person is an analyst at least.
    const level = approval_level ?? (isPerson(requested_by) ? 'analyst' : 'none');
    return levelReaches(level, this.creation.levelFor(wanted));
  }

  /** Records an action whose level is judged. */
  async record(tx: Tx, wanted: ActionToRecord): Promise<Action> {
    return (await this.creation.recordAll(tx, [wanted]))[0]!;
  }

  /** Undefined for a request that needs a transaction of its own: see ActionsRepository.enter. */
  private async requestTogether(
    requests: readonly ActionRequest[],
  ): Promise<(Requested | undefined)[]> {
    return await this.transactions.run(async (tx) => {
      const claimedPermit = await claimPermitLate(this.killSwitch, tx);
      const incidents = await this.actions.enter(
        tx,
        requests.map(({ caller }) => caller),
        requests.flatMap(({ wanted }) => wanted.incident_id ?? []).filter(isUuid),
      );
      if (!incidents) return requests.map(() => undefined);
      return await this.requestIn(tx, requests, incidents, claimedPermit);
    });
  }

  /** A batch of one, with an Idempotency-Key, or for an incident that another transaction is changing. */
  private async requestAlone(
    request: ActionRequest,
    idempotency: Participant<Action>,
  ): Promise<Requested> {
    const { incident_id } = request.wanted;
    let requested: Requested | undefined;
    await this.transactions.run<Action>(
      async (tx) => {
        const claimedPermit = await claimPermitLate(this.killSwitch, tx);
        const incident = incident_id && (await this.incidents.lockForShare(tx, incident_id));
        const incidents = new Map(incident ? [[incident.id, incident]] : []);
        [requested] = await this.requestIn(tx, [request], incidents, claimedPermit);
        if (!requested) throw new NotFoundError('Incident');
        return outcomeOf(requested).action;
      },
      request.caller,
      idempotency,
    );
    return requested!;
  }

  /** Undefined for a request whose incident is not locked, or that repeats an earlier request of the batch. */
  private async requestIn(
    tx: Tx,
    requests: readonly ActionRequest[],
    incidents: ReadonlyMap<string, LockedIncident>,
    claimedPermit: () => Permit,
  ): Promise<(Requested | undefined)[]> {
    const incidentOf = ({ wanted: { incident_id } }: ActionRequest) =>
      incident_id === undefined ? undefined : incidents.get(incident_id.toLowerCase());
    const there = requests.filter(
      (request) => request.wanted.incident_id === undefined || incidentOf(request),
    );
    if (there.length === 0) return requests.map(() => undefined);
    const permit = claimedPermit();
    const twins = await this.twins.of(
      tx,
      there.map((request) => ({ ...request.wanted, incident: incidentOf(request) })),
    );
    const fresh = there.filter((_, at) => twins[at] === undefined);
    const actions = await this.creation.createAll(
      tx,
      fresh.map((request) => toCreate(request, incidentOf(request))),
    );
    return requests.map((request) => {
      const action = actions[fresh.indexOf(request)];
      if (action) return decidedAction(action, permit, request.connector);
      const twin = twins[there.indexOf(request)];
      return twin && twin !== EARLIER ? new DuplicateActionError(twin) : undefined;
    });
  }
}

type Requested = DecidedAction | DuplicateActionError;

function outcomeOf(requested: Requested): DecidedAction {
  if (requested instanceof DuplicateActionError) throw requested;
  return requested;
}

function toCreate(
  { caller, wanted: { action_type, parameters }, connector }: ActionRequest,
  incident: LockedIncident | undefined,
): ActionToCreate {
  return {
    action_type,
    parameters,
    requested_by: caller.name,
    available: connector !== undefined,
    incident,
    claimFor: connector?.identity.id,
    simulated: simulatedResult(connector, action_type),
  };
}
