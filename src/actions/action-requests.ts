import { Injectable } from '@nestjs/common';
import { actionType, actionTypes } from '../action-catalogue/action-types.js';
import { parameterErrors } from '../action-catalogue/parameters.js';
import type { Principal } from '../auth/principal.js';
import { ConnectorRegistry } from '../connectors/connector-registry.js';
import type { Connector } from '../connectors/connector-type.js';
import type { LockedIncident } from '../incidents/incident.js';
import { Incidents } from '../incidents/incidents.js';
import { KillSwitch } from '../kill-switch/kill-switch.js';
import { type ApprovalLevel, levelReaches } from '../platform/access/roles.js';
import { Clock } from '../platform/clock.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import { Settings } from '../platform/config/settings.js';
import {
  type Participant,
  takesPart,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { NotFoundError, ValidationError } from '../platform/errors/app-error.js';
import { isUuid, newId, timeOfId } from '../platform/ids.js';
import { presentSpan, type Span } from '../platform/tracing/tracing.js';
import { type ActionChanged, ActionRecorder } from './action-records.js';
import { type Action, executedBy, isPerson, withExpiry } from './action.js';
import type { ActionRequestDto } from './actions.dto.js';
import { Actions } from './actions.js';
import { DuplicateActionError, DuplicateActions, EARLIER, type Twin } from './duplicate-actions.js';
import { ActionWork, claimPermitLate, type StartedAction } from './execution/action-work.js';
import { endOf, noConnector, simulatedResult } from './execution/execution-rules.js';
import { RequiredLevels } from './required-levels.js';

export interface ActionToCreate extends Pick<
  Action,
  | 'action_type'
  | 'parameters'
  | 'requested_by'
  | 'playbook_run_id'
  | 'on_behalf_of'
  | 'authors'
  | 'rollback_of'
  | 'reason'
> {
  /** Incident, locked by the transaction that creates the action. */
  readonly incident?: LockedIncident;
  /** Enabled connector that provides the type, read before the transaction. If absent, the action fails. */
  readonly connector?: Connector;
  /** Playbook step: minimum level, which can only raise the level of the action. Rollback: level of the action. */
  readonly approval_level?: ApprovalLevel;
  readonly repeat?: boolean;
}

interface ActionRequest {
  readonly caller: Principal;
  readonly span: Span | undefined;
  readonly incident_id?: string;
  readonly wanted: ActionToCreate;
}

interface Requested {
  readonly action: Action;
  /** Waits for the first attempt of the action. Absent if the action has not begun. */
  readonly ended?: () => Promise<Action>;
}

@Injectable()
export class ActionRequests {
  /** If one request of a batch fails, the requests are repeated one by one. */
  private readonly batches = new Batcher<ActionRequest, Requested | undefined>((requests) => {
    const callers = new Map(requests.map(({ caller }) => [caller.sessionId ?? caller.id, caller]));
    return this.transactions.run(
      async (tx) => {
        // A request for a locked incident waits alone, and not with its batch.
        const lock = (ids: readonly string[]) => this.incidents.lockFreeForShare(tx, ids);
        return await this.requestAll(tx, requests, lock);
      },
      ...callers.values(),
    );
  });

  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: Incidents,
    private readonly killSwitch: KillSwitch,
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
    private readonly duplicates: DuplicateActions,
    private readonly actions: Actions,
    private readonly recorder: ActionRecorder,
    private readonly work: ActionWork,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Concurrent requests share a transaction, except a request with an Idempotency-Key or with a locked incident. */
  async execute(
    caller: Principal,
    { action: action_type, parameters = {}, repeat }: ActionRequestDto,
    incident_id: string | undefined,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const errors = parameterErrors(actionType(action_type), parameters);
    if (errors.length > 0) throw new ValidationError(errors);
    const connector = await this.registry.providerOf(action_type);
    const wanted = { action_type, parameters, repeat, requested_by: caller.name, connector };
    const request = { caller, span: presentSpan(), incident_id, wanted };
    let requested = takesPart(idempotency) ? undefined : await this.batches.submit(request);
    if (!requested) {
      const create = async (tx: Tx): Promise<Action> => {
        const lock = (ids: readonly string[]) => this.incidents.lockAllForShare(tx, ids);
        [requested] = await this.requestAll(tx, [request], lock);
        if (!requested) throw new NotFoundError('Incident');
        return requested.action;
      };
      await this.transactions.run<Action>(create, caller, idempotency);
    }
    const { action, ended } = requested!;
    return ended ? await ended() : action;
  }

  async types() {
    const available = await this.registry.availableTypes();
    return actionTypes().map((type) => {
      const level = this.levels.byDefault(type);
      return {
        ...type,
        rolled_back_by: type.inverse,
        supports_rollback: type.inverse !== undefined,
        default_approval_level: level === 'none' ? undefined : level,
        available: available.has(type.name),
      };
    });
  }

  /** Returns `undefined` for each request whose incident was not locked. */
  private async requestAll(
    tx: Tx,
    requests: readonly ActionRequest[],
    lock: (ids: readonly string[]) => Promise<ReadonlyMap<string, LockedIncident>>,
  ): Promise<(Requested | undefined)[]> {
    const claimedPermit = await claimPermitLate(this.killSwitch, tx);
    const incidents = await lock(
      requests.flatMap(({ incident_id }) => incident_id ?? []).filter(isUuid),
    );
    const incidentOf = ({ incident_id = '' }: ActionRequest) =>
      incidents.get(incident_id.toLowerCase());
    const known = requests.filter(
      (request) => request.incident_id === undefined || incidentOf(request),
    );
    if (known.length === 0) return requests.map(() => undefined);
    const permit = claimedPermit();
    const wanted = known.map((request) => ({ ...request.wanted, incident: incidentOf(request) }));
    for (const twin of await this.duplicates.of(tx, wanted)) {
      if (twin === EARLIER) throw new Error('A batch has two requests for one action.');
      if (twin) throw new DuplicateActionError(twin);
    }
    const actions = await this.createAll(tx, wanted);
    const started = actions.flatMap((action, at) => {
      const { wanted: of, span } = known[at]!;
      return action.status === 'pending' ? [{ action, connector: of.connector!, span }] : [];
    });
    const ends = await this.work.begin(tx, started, permit);
    return requests.map((request) => {
      const action = actions[known.indexOf(request)];
      return action && { action, ended: ends.get(action.id) };
    });
  }

  /** Actions that need approval wait, and simulated actions have ended. The caller adds the work of all other actions. */
  async createAll(tx: Tx, wanted: readonly ActionToCreate[]): Promise<Action[]> {
    const actions = wanted.map((one) => this.newAction(one));
    await this.actions.insert(tx, actions);
    await this.recorder.record(tx, actions.flatMap(changesOf));
    return actions;
  }

  private newAction({ connector, repeat: _, ...wanted }: ActionToCreate): Action {
    const level = this.levelFor(wanted);
    const requested_at = this.clock.now();
    const waits = level !== 'none';
    // A rollback does not end here, because ApprovalsService ends it in the same transaction.
    const isInstant = !waits && wanted.rollback_of === undefined;
    const simulated = isInstant ? simulatedResult(connector, wanted.action_type) : undefined;
    const status = waits ? 'pending_approval' : simulated ? endOf(simulated) : 'pending';
    const action: Action = {
      ...wanted,
      id: newId(requested_at.getTime()),
      incident_id: wanted.incident?.id,
      approval_level: waits ? level : undefined,
      requested_at,
      updated_at: requested_at,
      status: connector ? status : 'failed',
      result: connector ? simulated : noConnector(wanted),
      ...(simulated && {
        connector_id: connector!.identity.id,
        executed_by: executedBy(wanted),
        executed_at: requested_at,
      }),
    };
    return withExpiry(action, this.settings.approvalTtlMinutes);
  }

  private levelFor(wanted: ActionToCreate): ApprovalLevel {
    const { rollback_of, approval_level = 'none' } = wanted;
    return rollback_of ? approval_level : this.levels.forRequest(wanted);
  }

  /** The caller's transaction has the kill switch permit. Locks a borrowed action, so that it cannot end earlier. */
  async createOrBorrow(tx: Tx, wanted: readonly ActionToCreate[]): Promise<Action[]> {
    const answers = new Map<ActionToCreate, Action>();
    const started: StartedAction[] = [];
    let open = wanted;
    while (open.length > 0) {
      const twins = await this.duplicates.of(tx, open);
      const fresh = open.filter((one, at) => {
        const twin = twins[at];
        return twin === undefined || (twin !== EARLIER && !this.satisfiesStep(twin, one));
      });
      for (const [at, action] of (await this.createAll(tx, fresh)).entries()) {
        const { connector } = fresh[at]!;
        answers.set(fresh[at]!, action);
        if (action.status === 'pending') started.push({ action, connector: connector! });
      }
      for (const [at, one] of open.entries()) {
        const twin = twins[at];
        if (twin === undefined || twin === EARLIER || answers.has(one)) continue;
        const [action] = await this.actions.lock(tx, [twin.id]);
        if (action?.status === twin.status) answers.set(one, action);
      }
      // If a request repeats another request of this batch, the next round finds the action of that other request.
      open = open.filter((one) => !answers.has(one));
    }
    await this.work.add(tx, started);
    return wanted.map((one) => answers.get(one)!);
  }

  /** True if the twin has the level of the step, and its effect did not end before the incident began. */
  private satisfiesStep(
    { approval_level, requested_by, executed_at }: Twin,
    wanted: ActionToCreate,
  ): boolean {
    const began = wanted.incident && timeOfId(wanted.incident.id);
    const isOver = executed_at && began && executed_at.getTime() < began;
    if (isOver && actionType(wanted.action_type).momentary) return false;
    // A person who requests an action has at least the level analyst.
    const level = approval_level ?? (isPerson(requested_by) ? 'analyst' : 'none');
    return levelReaches(level, this.levelFor(wanted));
  }
}

/** Returns two changes for an action that ends at its creation: without a connector, or with a simulating connector. */
function changesOf(action: Action): ActionChanged[] {
  const { status, requested_by, executed_at, executed_by: by = requested_by } = action;
  const asRequested = executed_at ? { ...action, status: 'pending' as const } : action;
  const requested = { change: 'requested', actor: requested_by, action: asRequested } as const;
  if (status !== 'failed' && status !== 'completed') return [requested];
  return [requested, { change: status, actor: by, action, atOnce: true }];
}
