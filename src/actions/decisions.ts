import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import type { Tx } from '../database/transactions.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import { type Action, SYSTEM } from './action.js';
import { ActionNews } from './action-news.js';
import { ActionReadRepository } from './action-read.repository.js';
import { ActionWriteRepository } from './action-write.repository.js';
import { ActionRuns } from './execution/action-runs.js';

/** The moves out of `pending_approval`. Who may make them is for the caller to know. */
@Injectable()
export class Decisions {
  constructor(
    private readonly incidents: IncidentsService,
    private readonly reads: ActionReadRepository,
    private readonly writes: ActionWriteRepository,
    private readonly news: ActionNews,
    private readonly runs: ActionRuns,
    private readonly clock: Clock,
  ) {}

  /**
   * Locks the action until the transaction ends, and its incident before it, in the order in which deletions do. Undefined
   * when there is no such action.
   */
  async lock(tx: Tx, { id, incidentId }: Action): Promise<Action | undefined> {
    if (incidentId) await this.incidents.lockForShare(tx, incidentId);
    return await this.reads.lockById(tx, id);
  }

  /** Undefined when it did not wait for approval any more. Whoever calls it then runs the action. */
  async approve(
    tx: Tx,
    id: string,
    by: string,
    comment: string | undefined,
  ): Promise<Action | undefined> {
    const approved = await this.writes.approve(tx, id, {
      by,
      at: this.clock.now(),
      graceMs: this.runs.graceMs,
      ...(comment !== undefined && { comment }),
    });
    if (approved) await this.news.record(tx, 'approved', by, [approved]);
    return approved;
  }

  /** Undefined when it did not wait for approval any more. */
  async reject(tx: Tx, id: string, by: string, reason: string): Promise<Action | undefined> {
    const rejected = await this.writes.reject(tx, id, { by, at: this.clock.now(), reason });
    if (rejected) await this.news.record(tx, 'rejected', by, [rejected]);
    return rejected;
  }

  /** Ends at most `limit` of those that nobody decided on in time; answers how many. */
  async rejectExpired(tx: Tx, ttlMinutes: number, limit: number): Promise<number> {
    const within = ttlMinutes === 1 ? 'a minute' : `${ttlMinutes} minutes`;
    const reason = `Nobody decided on it within ${within}.`;
    const rejection = { by: SYSTEM, at: this.clock.now(), reason };
    const rejected = await this.writes.rejectExpired(tx, ttlMinutes, rejection, limit);
    await this.news.record(tx, 'rejected', SYSTEM, rejected);
    return rejected.length;
  }
}
