import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { ConnectorRegistry } from '../connectors/connector-registry.js';
import type { Tx } from '../platform/database/transactions.js';
import { Incidents } from '../incidents/incidents.js';
import { type Action, actionIdOf, shownActionId } from './action.js';
import { actionTypes } from '../action-catalogue/action-types.js';
import { RequiredLevels } from './required-levels.js';
import { ActionsRepository } from './actions.repository.js';
import type { ActionQueryDto } from './actions.dto.js';
import { ChangeFeed, type FeedPage } from '../audit/changes/change-feed.js';
import type { ChangesQueryDto } from '../audit/changes/feed-api.js';

@Injectable()
export class ActionsService {
  constructor(
    private readonly repository: ActionsRepository,
    private readonly incidents: Incidents,
    private readonly registry: ConnectorRegistry,
    private readonly levels: RequiredLevels,
    private readonly feed: ChangeFeed,
  ) {}

  async list(query: ActionQueryDto, incidentId?: string): Promise<Page<Action>> {
    if (incidentId === undefined) return await this.repository.list(query);
    const { id } = await this.incidents.get(incidentId);
    return await this.repository.list({ ...query, incident_id: id });
  }

  async get(id: string): Promise<Action> {
    const action = await this.repository.findById(id);
    if (!action) throw new NotFoundError('Action');
    return action;
  }

  /** Returns a page of the feed of all changes, for clients that keep a copy of the actions. */
  async changes(
    query: ChangesQueryDto,
    caller: Principal,
    left: AbortSignal,
  ): Promise<FeedPage<Action>> {
    return await this.feed.page(this.repository, query, caller, left);
  }

  /** Returns those actions that wait for approval, with the text of their preview, by the ids of their events. */
  async waitingAmong(
    tx: Tx,
    shownIds: readonly string[],
  ): Promise<ReadonlyMap<string, string | undefined>> {
    const waiting = await this.repository.waitingAmong(tx, shownIds.map(actionIdOf));
    return new Map(waiting.map(({ id, preview }) => [shownActionId(id), preview?.message]));
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
}
