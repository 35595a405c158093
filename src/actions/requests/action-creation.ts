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
  type ActionStatus,
  type Parameters,
  type RequiredLevel,
  withExpiry,
} from '../action.js';
import { AwaitedRuns } from '../execution/awaited-runs.js';
import { noConnector } from '../execution/execution-rules.js';
import { RequiredLevels } from '../policy/required-levels.js';
import { type ActionChanged, ActionRecorder } from '../records/action-recorder.js';
import { ActionsRepository } from '../records/actions.repository.js';

export interface ActionToCreate {
  readonly type: ActionTypeName;
  readonly parameters: Parameters;
  /** Locked by the transaction that creates the action. */
  readonly incident?: LockedIncident;
  readonly requestedBy: string;
  /** Of a step of a playbook run: the run, and who started it. */
  readonly playbookRunId?: string;
  readonly onBehalfOf?: string;
  /** A level that a playbook step asks for: it can raise, never lower. */
  readonly askedLevel?: ApprovalLevel;
  /** Whether a connector provides the type, asked before the transaction. */
  readonly available: boolean;
  /** The connector to claim it for, where it may run at once; the transaction needs a permit then. */
  readonly claimFor?: string;
  /** Nobody begins it now: recovery does, as soon as its connector has a place. */
  readonly forRecovery?: boolean;
}

/** An action whose level is decided. */
export interface ActionToRecord extends Pick<
  Action,
  | 'type'
  | 'parameters'
  | 'requestedBy'
  | 'playbookRunId'
  | 'onBehalfOf'
  | 'rollbackOf'
  | 'reason'
  | 'approvalLevel'
> {
  readonly incident?: LockedIncident;
  /** Whether an enabled connector provides it: what none does has failed at once. */
  readonly available: boolean;
  /** The connector that it is claimed for. */
  readonly connectorId?: string;
  readonly forRecovery?: boolean;
}

/** Decides on the level of new actions, and inserts them with their records. */
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

  /** Answers them in the order in which they were given. */
  async createAll(tx: Tx, wanted: readonly ActionToCreate[]): Promise<Action[]> {
    return await this.recordAll(
      tx,
      wanted.map((one) => this.judged(one)),
    );
  }

  /** Each waits for approval where it has a level, else it may run. */
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

  levelFor({ type, parameters, incident, askedLevel }: ActionToCreate): ApprovalLevel {
    const incidentSeverity = incident?.severity;
    return this.levels.forRequest({ type, parameters, incidentSeverity, askedLevel });
  }

  private judged({ askedLevel, claimFor, ...wanted }: ActionToCreate): ActionToRecord {
    const { available } = wanted;
    const level = this.levelFor({ ...wanted, askedLevel });
    return {
      ...wanted,
      approvalLevel: level === 'none' ? undefined : level,
      connectorId: available && level === 'none' ? claimFor : undefined,
    };
  }

  private actionOf({ available, forRecovery: _, ...wanted }: ActionToRecord): Action {
    const requestedAt = this.clock.now();
    const isClaimed = wanted.connectorId !== undefined;
    return {
      ...wanted,
      id: newId(requestedAt.getTime()),
      incidentId: wanted.incident?.id,
      requestedAt,
      status: statusOf(wanted.approvalLevel, available),
      result: available ? undefined : noConnector(wanted),
      phase: isClaimed ? 'claimed' : undefined,
      fence: isClaimed ? 1 : 0,
      sent: false,
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

/** What is recorded of a new action: one that no connector provides has failed at once. */
function changesOf(action: Action): ActionChanged[] {
  const by = { actor: action.requestedBy, action };
  const requested = { change: 'requested', ...by } as const;
  return action.status === 'failed' ? [requested, { change: 'failed', ...by }] : [requested];
}
