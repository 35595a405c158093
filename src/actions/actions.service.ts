import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import type { ApprovalLevel } from '../platform/access/roles.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { Settings } from '../platform/config/settings.js';
import { ConnectorRegistry } from '../connectors/connector.port.js';
import type { Participant, Tx } from '../platform/database/transactions.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import { type Action, actionIdOf, shownActionId, withExpiry } from './action.js';
import { type ActionType, actionTypes } from '../action-catalogue/action-types.js';
import { levelByDefault } from './required-levels.js';
import { ActionsRepository } from './actions.repository.js';
import { ActionRequests, type WantedAction } from './action-requests.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import { ActionListRepository, type ActionListRequest } from './listing/action-list.repository.js';
import { ChangeFeed, type FeedPage, type FeedRequest } from '../audit/changes/change-feed.js';

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
    return await this.list({ ...request, filter: { ...request.filter, incidentId: id } });
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
