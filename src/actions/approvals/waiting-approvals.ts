// SQL: queries of two gauges.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { countOf } from '../../platform/counting/counted-list.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { ACTION_EVENTS, ActionRecorder } from '../action-records.js';
import { type Action, actionIdOf, SYSTEM } from '../action.js';
import { Actions } from '../actions.js';
import { ConnectorCalls } from '../execution/connector-calls.js';

const EVERY_SECONDS = 30;
const BATCH = 100;
const PREVIEWED: readonly ActionTypeName[] = ['quarantine_email', 'delete_email'];

const COUNT_WAITING: Statement = {
  name: 'actions_count_waiting',
  text: `select ${countOf('action', [`status = 'pending_approval'`])}::integer as n`,
};

/** Longest wait in seconds. If no action waits, `min` is null, which `greatest` ignores. */
const LONGEST_WAIT: Statement = {
  name: 'actions_longest_wait',
  text: `select greatest(0, extract(epoch from clock_timestamp() - min(requested_at)))::float8 as n
    from actions where status = 'pending_approval'`,
};

export function expiredReason(minutes: number): string {
  return `Nobody approved or rejected the action within ${minutes} min.`;
}

/** Previews actions that wait for approval, reminds approvers, and rejects actions after APPROVAL_TTL_MINUTES. */
@Injectable()
export class WaitingApprovals implements OnModuleInit {
  constructor(
    private readonly events: DomainEvents,
    private readonly calls: ConnectorCalls,
    private readonly work: Work,
    private readonly transactions: Transactions,
    private readonly actions: Actions,
    private readonly recorder: ActionRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly statements: Statements,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    const where = PREVIEWED.map((type) => `$.action_type == "${type}"`).join(' || ');
    const news = { types: [ACTION_EVENTS.pendingApproval], where };
    this.events.on(news, 'action-previews', ({ subject }) => this.preview(actionIdOf(subject.id)));
    this.work.every('approvals.expire', EVERY_SECONDS, (signal) => this.expire(signal));
    this.work.every('approvals.remind', EVERY_SECONDS, (signal) => this.remind(signal));
    const read = (statement: Statement) => async () =>
      (await this.statements.rows<{ readonly n: number }>(statement))[0]!.n;
    this.gauges.register('approvals_pending', read(COUNT_WAITING));
    this.gauges.register('approvals_oldest_seconds', read(LONGEST_WAIT));
  }

  async expire(signal?: AbortSignal): Promise<void> {
    await this.inBatches(signal, async (tx) => {
      const rejection = {
        rejected_by: SYSTEM,
        rejected_at: this.clock.now(),
        rejection_reason: expiredReason(this.settings.approvalTtlMinutes),
        rejection_code: 'expired',
      } as const;
      const rejected = await this.actions.rejectExpired(tx, rejection, BATCH);
      const change = { change: 'rejected', actor: SYSTEM } as const;
      await this.recorder.record(
        tx,
        rejected.map((action) => ({ ...change, action })),
      );
      return rejected;
    });
  }

  async remind(signal?: AbortSignal): Promise<void> {
    await this.inBatches(signal, async (tx) => {
      const expiring = await this.actions.remind(tx, BATCH);
      await this.recorder.remind(tx, expiring);
      return expiring;
    });
  }

  /** Asks the connector after the commit, because a transaction must not wait for a vendor. */
  private async preview(id: string): Promise<void> {
    const action = await this.actions.findById(id);
    if (action?.status !== 'pending_approval' || action.preview) return;
    const connector = await this.calls.connectorOf(action);
    const preview = connector && (await this.calls.preview(connector, action));
    if (preview) await this.transactions.run((tx) => this.actions.keepPreview(tx, id, preview));
  }

  private async inBatches(
    signal: AbortSignal | undefined,
    work: (tx: Tx) => Promise<readonly Action[]>,
  ): Promise<void> {
    let done = this.settings.approvalTtlMinutes === 0 ? 0 : BATCH;
    while (done === BATCH && !signal?.aborted) done = (await this.transactions.run(work)).length;
  }
}
