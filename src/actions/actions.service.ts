import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { NotFoundError, AppError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { Settings } from '../platform/config/settings.js';
import { ConnectorRegistry } from '../connectors/connector-registry.js';
import type { Participant, Tx } from '../platform/database/transactions.js';
import { Incidents } from '../incidents/incidents.js';
import {
  type Action,
  actionIdOf,
  shownActionId,
  withExpiry,
  invalidState,
  type Parameters,
} from './action.js';
import { actionTypes, actionType, type ActionTypeName } from '../action-catalogue/action-types.js';
import { higherLevel, RequiredLevels } from './required-levels.js';
import { ActionsRepository } from './actions.repository.js';
import { ActionCreation } from './action-requests.js';
import type { ActionListRequest } from './action-list.js';
import { ChangeFeed, type FeedPage } from '../audit/changes/change-feed.js';
import type { ChangesQueryDto } from '../audit/changes/feed-api.js';
import { requireApprovalLevel } from '../auth/authorisation.js';
import { mapConstraints } from '../platform/database/sqlstate.js';
import { ActionDecisions } from './action-decisions.js';
import { ActionConnectors } from './execution/connector-calls.js';

export const ACTION_FEED_EVENTS = [
  'action.requested',
  'action.approved',
  'action.rejected',
  'action.completed',
  'action.failed',
] as const;

@Injectable()
export class ActionsService {
  constructor(
    private readonly repository: ActionsRepository,
    private readonly incidents: Incidents,
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
    private readonly feed: ChangeFeed,
    private readonly settings: Settings,
  ) {}

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { total, items } = await this.repository.list(request);
    return { total, items: items.map(this.shown) };
  }

  async listOfIncident(incidentId: string, request: ActionListRequest): Promise<Page<Action>> {
    const { id } = await this.incidents.get(incidentId);
    return await this.list({ ...request, incident_id: id });
  }

  async get(id: string): Promise<Action> {
    const action = await this.repository.findById(id);
    if (!action) throw new NotFoundError('Action');
    return this.shown(action);
  }

  /** Returns a page of the feed of all changes, for programs that keep a copy of the actions. */
  async changes(
    query: ChangesQueryDto,
    caller: Principal,
    left: AbortSignal,
  ): Promise<FeedPage<Action>> {
    const bySubject = (actions: readonly Action[]) =>
      new Map(actions.map((action) => [shownActionId(action.id), this.shown(action)]));
    const source = {
      type: 'action',
      events: ACTION_FEED_EVENTS,
      listAfter: async (id: string | null, limit: number) =>
        bySubject(await this.repository.listAfter(id, limit)),
      findBySubject: async (ids: readonly string[]) =>
        bySubject(await this.repository.findAll(ids.map(actionIdOf))),
    } as const;
    return await this.feed.page(source, query, caller, left);
  }

  /** Returns the actions among these that wait for approval, by the ids of their events, each with the text of its preview. */
  async waitingAmong(
    tx: Tx,
    shownIds: readonly string[],
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const waiting = await this.repository.waitingAmong(tx, shownIds.map(actionIdOf));
    return new Map(waiting.map(({ id, preview }) => [shownActionId(id), preview?.message]));
  }

  /** All action types, with what this site requires and provides. */
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

  private readonly shown = (action: Action): Action =>
    withExpiry(action, this.settings.approvalTtlMinutes);
}

/** Rolls back an action with a new action of the inverse type, which needs the level of both but no approval. */
@Injectable()
export class RollbackService {
  constructor(
    private readonly decisions: ActionDecisions,
    private readonly connectors: ActionConnectors,
    private readonly creation: ActionCreation,
    private readonly levels: RequiredLevels,
  ) {}

  async rollBack(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<Action>,
  ): Promise<Action> {
    const original = await this.decisions.find(id);
    const { inverse } = actionType(original.action_type);
    const connector = inverse && (await this.connectors.ofRollback(original, inverse));
    return await mapConstraints({ uq_actions_rollback_of: () => invalidState(ROLLED_BACK) }, () =>
      this.decisions.decideAndRun(caller, connector, idempotency, async (tx, requirePermit) => {
        const { action, incident } = await this.decisions.lock(tx, original);
        const { action_type, parameters, approval_level: askedLevel } = action;
        const level = inverse
          ? this.levels.forRequest({ action_type: inverse, parameters, incident, askedLevel })
          : (askedLevel ?? 'none');
        requireApprovalLevel(caller, level);
        if (!inverse) {
          throw new AppError('rollback_not_supported', `${action_type} cannot be rolled back.`);
        }
        const obstacle = rollbackObstacle(action);
        if (obstacle !== undefined) throw invalidState(obstacle);
        requirePermit();
        // The requester of the original needs the approval of another person.
        const waits = await this.decisions.isOwnRequest(tx, caller, action);
        const wanted = {
          action_type: inverse,
          parameters: inverseParameters(inverse, parameters, reason),
          requested_by: caller.name,
          connector,
          rollback_of: action.id,
          reason,
          incident,
          approval_level: waits ? higherLevel(level, 'analyst') : undefined,
        };
        return (await this.creation.createAll(tx, [wanted]))[0]!;
      }),
    );
  }
}

const ROLLED_BACK = 'The action has been rolled back, or its rollback is under way.';

/** Returns why the action cannot be rolled back; `undefined` if it can. */
export function rollbackObstacle({ rolled_back_by, status, result }: Action): string | undefined {
  if (rolled_back_by !== undefined) return ROLLED_BACK;
  const mayHaveHappened =
    status === 'completed' || (status === 'failed' && result?.code === 'outcome_unknown');
  return mayHaveHappened ? undefined : `The action is ${status}, and not completed.`;
}

/** Parameters of the inverse: the same values as the original, with the reason of the rollback. */
export function inverseParameters(
  inverse: ActionTypeName,
  original: Parameters,
  reason: string,
): Parameters {
  const given: Parameters = { ...original, reason };
  const names = actionType(inverse).parameters.map(({ name }) => name);
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]]] : [])),
  );
}
