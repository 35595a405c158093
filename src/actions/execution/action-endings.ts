// SQL: a temporary table that outlives the replaced content.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { In } from 'typeorm';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import type { Tx } from '../../platform/database/transactions.js';
import { type Action, type ActionResult, executedBy, SYSTEM } from '../action.js';
import { ActionRecorder } from '../action-records.js';
import { Actions, WAITING, type Withdrawal } from '../actions.js';
import { endOf, failed, resultOfLoss } from './execution-rules.js';

export interface Ending {
  readonly action: Action;
  /** Absent if the incident was deleted before a request was sent. Then the action is rejected. */
  readonly result?: ActionResult;
  readonly connectorId?: string;
  /** Default: the approver, otherwise the person who requested the action, otherwise `system`. */
  readonly by?: string;
}

/** Ends actions with a result, a rejection or a withdrawal, and records the ends. */
@Injectable()
export class ActionEndings implements OnModuleInit {
  constructor(
    private readonly recorder: ActionRecorder,
    private readonly actions: Actions,
    private readonly clock: Clock,
    private readonly killSwitch: KillSwitch,
    private readonly incidentChanges: IncidentsService,
  ) {}

  onModuleInit(): void {
    this.killSwitch.register('actions', {
      inFlight: async () => (await this.actions.countWork()).in_flight,
      count: async () => (await this.actions.countWork()).held,
      discard: async (tx, { name }) => {
        const reason = `Discarded by ${name}, who turned the kill switch off.`;
        return await this.withdraw(tx, { sent: true }, SYSTEM, reason);
      },
    });
    this.incidentChanges.registerEnding({
      pending: 'actions',
      count: (tx, incidentId) => this.actions.countWaitingOf(tx, incidentId),
      end: async (tx, incident_id, by, reason) => {
        const waiting = await this.reject(tx, { incident_id, ...WAITING }, by, reason);
        return waiting.length + (await this.withdraw(tx, { incident_id }, by, reason));
      },
    });
  }

  async endAll(tx: Tx, endings: readonly Ending[]): Promise<Action[]> {
    const ends = endings.flatMap(({ action, result, connectorId: connector_id, by }) => {
      const executed_by = by ?? executedBy(action);
      return result
        ? [{ id: action.id, status: endOf(result), result, executed_by, connector_id }]
        : [];
    });
    const ended = await this.actions.end(tx, ends, this.clock.now());
    const changes = ended.map((action) => {
      const { status, executed_by } = action;
      return { change: status as 'completed' | 'failed', actor: executed_by!, action };
    });
    await this.recorder.record(tx, changes);
    const orphans = endings.flatMap(({ action, result }) => (result ? [] : [action.id]));
    const where = { id: In(orphans), status: 'pending' } as const;
    if (orphans.length === 0) return ended;
    return [...ended, ...(await this.reject(tx, where, SYSTEM, 'Its incident was deleted.'))];
  }

  async reject(
    tx: Tx,
    where: Parameters<Actions['reject']>[1],
    by: string,
    reason: string,
  ): Promise<Action[]> {
    const rejection = { rejected_by: by, rejected_at: this.clock.now(), rejection_reason: reason };
    const rejected = await this.actions.reject(tx, where, rejection);
    const changes = rejected.map((action) => ({ change: 'rejected', actor: by, action }) as const);
    await this.recorder.record(tx, changes);
    return rejected;
  }

  /** Rejects pending actions that have not begun, and fails those whose call may have been sent. Returns the number. */
  async withdraw(tx: Tx, which: Withdrawal, by: string, message: string): Promise<number> {
    const withdrawn = await this.actions.withdraw(tx, which);
    const idsOf = (isSent: boolean) =>
      withdrawn.flatMap(({ id, sent }) => (sent === isSent ? [id] : []));
    const unsent = idsOf(false);
    if (unsent.length > 0) await this.reject(tx, { id: In(unsent) }, by, message);
    const result = resultOfLoss({ kind: 'stopped', message, sent: true, idempotent: false });
    const sent = await this.actions.lock(tx, idsOf(true));
    await this.endAll(
      tx,
      sent.map((action) => ({ action, result, by: SYSTEM })),
    );
    return withdrawn.length;
  }
}

interface ActionsAcrossRestore {
  /** Actions in progress in the backup, or approved since the backup. They fail with `outcome_unknown`. */
  readonly failed: readonly string[];
  /** Actions that the backup does not contain and whose call to the vendor had no answer. */
  readonly lost: readonly string[];
}

/** SQL: id of the connector that a rollback would use. The lane of an expired claim names no connector. */
const CALLED = `coalesce(work.state ->> 'sent_to', nullif(split_part(work.lane, '.', 2), ''))`;

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Must run before the content of the database is replaced, in the same transaction. */
export async function noteActionsBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table actions_before_restore on commit drop as
     select actions.id, status, coalesce(connector_id, ${CALLED}) as connector_id, work.state ->> 'sent_to' is not null as sent
       from actions left join work on work.kind = 'action' and work.ref = actions.id`,
  );
}

/**
 * Must run after the content of the database is replaced. A restore does not undo effects at vendors, so no action is
 * repeated.
 */
export async function carryActionsOverRestore(tx: Tx): Promise<ActionsAcrossRestore> {
  const result = failed(
    'outcome_unknown',
    'A backup was restored while the action was in progress: check at the vendor whether it was done.',
  );
  const [ended] = await tx.query<[{ id: string }[], number]>(
    `update actions set status = 'failed', result = $1, executed_at = now(), executed_by = $2, connector_id = coalesce(
              (select ${CALLED} from work where kind = 'action' and ref = actions.id),
              (select connector_id from actions_before_restore b where b.id = actions.id))
      where status = 'pending'
         or status = 'pending_approval'
            and id in (select id from actions_before_restore where status not in ('pending_approval', 'rejected'))
     returning id`,
    [result, SYSTEM],
  );
  await tx.query(`delete from work where kind = 'action'`);
  const lost = await tx.query<{ id: string }[]>(
    `select id from actions_before_restore b
      where status = 'pending' and sent and not exists (select from actions a where a.id = b.id) order by id`,
  );
  return { failed: idsOf(ended).sort(), lost: idsOf(lost) };
}
