import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import type { ApprovalLevel } from '../platform/access/roles.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { Page } from '../platform/paging/page.js';
import { Settings } from '../platform/config/settings.js';
import { ConnectorRegistry } from '../connectors/connector-registry.js';
import type { Participant } from '../platform/database/transactions.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import { type Action, withExpiry } from './action.js';
import { type ActionType, actionTypes } from '../action-catalogue/action-types.js';
import { levelByDefault } from './policy/approval-policy.js';
import { ActionsRepository } from './records/actions.repository.js';
import { ActionRequests } from './requests/action-requests.js';
import type { WantedAction } from './requests/joint-requests.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import type { ActionListRequest } from './listing/action-list.js';
import { ActionListRepository } from './listing/action-list.repository.js';

export interface OfferedType {
  readonly type: ActionType;
  /** The approval that it needs on this site when neither its incident nor its target asks for more. */
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

  /** Creates the action, and runs it unless it has to be approved. */
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

  async types(): Promise<OfferedType[]> {
    const available = await this.registry.availableTypes();
    return actionTypes().map((type) => ({
      type,
      level: levelByDefault(this.settings.approvalLevels, type),
      available: available.has(type.name),
    }));
  }
}
