import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { afterCommit, type Tx } from '../../platform/database/transactions.js';
import { newId } from '../../platform/ids.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { LockedIncident } from '../../incidents/incident.js';
import {
  type Action,
  type ActionResult,
  type ActionStatus,
  executedBy,
  type Parameters,
  type RequiredLevel,
  withExpiry,
} from '../action.js';
import { AwaitedRuns } from '../execution/awaited-runs.js';
import { endOf, noConnector } from '../execution/execution-rules.js';
import { RequiredLevels } from '../policy/required-levels.js';
import { type ActionChanged, ActionRecorder } from '../records/action-recorder.js';
import { ActionsRepository } from '../records/actions.repository.js';

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
