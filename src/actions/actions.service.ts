import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import type { ApprovalLevel } from '../platform/access/roles.js';
import { NotFoundError, AppError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { Settings } from '../platform/config/settings.js';
import { ConnectorRegistry } from '../connectors/connector.port.js';
import { type Participant, type Tx, Transactions } from '../platform/database/transactions.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import {
  type Action,
  actionIdOf,
  shownActionId,
  withExpiry,
  askersOf,
  type Parameters,
  type RequiredLevel,
} from './action.js';
import {
  type ActionType,
  actionTypes,
  actionType,
  type ActionTypeName,
} from '../action-catalogue/action-types.js';
import { levelByDefault, higherLevel, RequiredLevels } from './required-levels.js';
import { ActionsRepository } from './actions.repository.js';
import { ActionCreation, ActionRequests, type WantedAction } from './action-requests.js';
import { AwaitedRuns, claimPermitLate, decidedAction } from './execution/awaited-runs.js';
import { ActionListRepository, type ActionListRequest } from './listing/action-list.repository.js';
import { ChangeFeed, type FeedPage, type FeedRequest } from '../audit/changes/change-feed.js';
import { requireApprovalLevel, SamePerson } from '../auth/authorisation.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import type { Severity } from '../incidents/incident.js';
import { KillSwitch, type Permit } from '../kill-switch/kill-switch.js';
import { ActionDecisions } from './action-decisions.js';
import { ActionConnectors } from './execution/action-connectors.js';

export interface OfferedType {
  readonly type: ActionType;
  /** Level on this site, before the incident or the target raises it. */
  readonly level: ApprovalLevel;
  readonly available: boolean;
}

@Injectable()
export class ActionsService {
  constructor(
    private readonly requests: ActionRequests,
    private readonly runs: AwaitedRuns,
    private readonly repository: ActionsRepository,
    private readonly lists: ActionListRepository,
    private readonly incidents: IncidentsService,
    private readonly registry: ConnectorRegistry,
    private readonly settings: Settings,
  ) {}

  /** Creates the action, and runs it unless it needs approval. */
  async execute(
    caller: Principal,
    wanted: WantedAction,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const requested = await this.requests.request(caller, wanted, idempotency);
    return await this.runs.runAndWait(requested, idempotency);
  }

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { total, items } = await this.lists.list(request);
    const ttl = this.settings.approvalTtlMinutes;
    return { total, items: items.map((action) => withExpiry(action, ttl)) };
  }

  async listOfIncident(incidentId: string, request: ActionListRequest): Promise<Page<Action>> {
    const { id } = await this.incidents.get(incidentId);
    return await this.list({ ...request, incident_id: id });
  }

  async get(id: string): Promise<Action> {
    const action = await this.repository.findById(id);
    if (!action) throw new NotFoundError('Action');
    return withExpiry(action, this.settings.approvalTtlMinutes);
  }

  /** Returns the actions among these that wait for approval, by id as events have it, with what each would change. */
  async waitingAmong(
    tx: Tx,
    shownIds: readonly string[],
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const waiting = await this.repository.waitingAmong(tx, shownIds.map(actionIdOf));
    return new Map(waiting.map(({ id, preview }) => [shownActionId(id), preview?.message]));
  }

  async types(): Promise<OfferedType[]> {
    const available = await this.registry.availableTypes();
    return actionTypes().map((type) => ({
      type,
      level: levelByDefault(this.settings.approvalLevels, type),
      available: available.has(type.name),
    }));
  }
}

export const ACTION_FEED_EVENTS = [
  'action.requested',
  'action.approved',
  'action.rejected',
  'action.completed',
  'action.failed',
] as const;

/** Feed of all changes of actions, for programs that keep a copy. */
@Injectable()
export class ActionFeed {
  constructor(
    private readonly feed: ChangeFeed,
    private readonly actions: ActionListRepository,
    private readonly settings: Settings,
  ) {}

  async page(request: FeedRequest, left: AbortSignal): Promise<FeedPage<Action>> {
    const source = {
      name: 'actions',
      actions: ACTION_FEED_EVENTS,
      listAfter: async (id: string | null, limit: number) =>
        (await this.actions.listAfter(id, limit)).map((action) => this.shown(action)),
      findBySubject: (ids: readonly string[]) => this.findBySubject(ids),
    };
    return await this.feed.page(source, request, left);
  }

  private async findBySubject(ids: readonly string[]): Promise<ReadonlyMap<string, Action>> {
    const actions = await this.actions.findAll(ids.map(actionIdOf));
    return new Map(actions.map((action) => [shownActionId(action.id), this.shown(action)]));
  }

  private shown(action: Action): Action {
    return withExpiry(action, this.settings.approvalTtlMinutes);
  }
}

/** Rolls back an action with a new action of the inverse type. It runs at once unless another person has to approve it. */
@Injectable()
export class RollbackService {
  constructor(
    private readonly transactions: Transactions,
    private readonly decisions: ActionDecisions,
    private readonly killSwitch: KillSwitch,
    private readonly connectors: ActionConnectors,
    private readonly creation: ActionCreation,
    private readonly levels: RequiredLevels,
    private readonly actions: ActionsRepository,
    private readonly runs: AwaitedRuns,
    private readonly persons: SamePerson,
    private readonly settings: Settings,
  ) {}

  async rollBack(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const original = await this.actions.findById(id);
    if (!original) throw new NotFoundError('Action');
    const { inverse } = actionType(original.action_type);
    const connector = inverse && (await this.connectors.ofRollback(original, inverse));
    let permit: Permit | undefined;
    const rollback = await mapConstraints(
      {
        uq_actions_rollback_of: () =>
          notInState('The action has been rolled back, or its rollback is under way.'),
      },
      () =>
        this.transactions.run<Action>(
          async (tx) => {
            const claimedPermit = await claimPermitLate(this.killSwitch, tx);
            const { action, incident } = await this.decisions.lock(tx, original);
            const level = this.levelFor(action, inverse, incident?.severity);
            requireApprovalLevel(caller, level);
            if (!inverse) {
              throw new AppError(
                'rollback_not_supported',
                `${action.action_type} cannot be rolled back.`,
              );
            }
            const obstacle = rollbackObstacle(action);
            if (obstacle !== undefined) throw notInState(obstacle);
            permit = claimedPermit();
            const wanted = {
              action_type: inverse,
              parameters: inverseParameters(inverse, action.parameters, reason),
              requested_by: caller.name,
              connector,
              rollback_of: action.id,
              reason,
              incident,
              approval_level: await this.levelToWaitFor(tx, caller, action, level),
            };
            return (await this.creation.createAll(tx, [wanted]))[0]!;
          },
          caller,
          idempotency,
        ),
    );
    const decided = decidedAction(rollback, permit, connector);
    return await this.runs.runAndWait(decided, idempotency);
  }

  /** The higher of the levels of the original and of its inverse. */
  private levelFor(
    original: Action,
    inverse: ActionTypeName | undefined,
    incidentSeverity: Severity | undefined,
  ): ApprovalLevel {
    const own = original.approval_level ?? 'none';
    if (!inverse) return own;
    const { parameters } = original;
    return higherLevel(
      own,
      this.levels.forRequest({ action_type: inverse, parameters, incidentSeverity }),
    );
  }

  /** Under the rule of four eyes, another person has to approve the rollback of one's own action. */
  private async levelToWaitFor(
    tx: Tx,
    caller: Principal,
    original: Action,
    level: ApprovalLevel,
  ): Promise<RequiredLevel | undefined> {
    if (!this.settings.approvalFourEyes) return undefined;
    if (!(await this.persons.isAmong(tx, caller, askersOf(original)))) return undefined;
    return level === 'none' ? 'analyst' : level;
  }
}

function notInState(message: string): AppError {
  return new AppError('invalid_state', message);
}

/** Why the action cannot be rolled back. Undefined if it can. */
export function rollbackObstacle(action: Action): string | undefined {
  if (action.rolled_back_by !== undefined)
    return 'The action has been rolled back, or its rollback is under way.';
  const mayHaveHappened =
    action.status === 'completed' ||
    (action.status === 'failed' && action.result?.code === 'outcome_unknown');
  return mayHaveHappened ? undefined : `The action is ${action.status}, and not completed.`;
}

/** Parameters of the inverse: the same values as the original, with the reason of the rollback. */
export function inverseParameters(
  inverse: ActionTypeName,
  original: Parameters,
  reason: string,
): Parameters {
  const common = actionType(inverse).parameters.flatMap(({ name }): [string, unknown][] => {
    if (name === 'reason') return [[name, reason]];
    return Object.hasOwn(original, name) ? [[name, original[name]]] : [];
  });
  return Object.fromEntries(common);
}
