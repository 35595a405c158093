// SQL: one group by for all lanes, and the pages of dead work.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../database/statements.js';
import { afterCommit, type Tx } from '../database/transactions.js';
import { AppError, NotFoundError } from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import type { Page, PageRequest, SortWord } from '../paging/page.js';
import { TIMERS, Work } from './work.js';

export interface QueueState {
  readonly queue: string;
  readonly waiting: number;
  readonly active: number;
  readonly dead: number;
}

export interface DeadJob {
  readonly id: string;
  readonly queue: string;
  readonly attempts: number;
  readonly error: string;
  readonly enqueued_at: Date;
  /** Time of the last attempt. */
  readonly created_at: Date;
}

export interface DeadJobsQuery extends PageRequest {
  readonly queue?: string | undefined;
  readonly sort?: SortWord<'created_at'>;
}

/** Omits timers, and kinds that have their own gauges. */
const STATES: Statement = {
  name: 'work_states',
  text: `
    select kind as queue,
           count(*) filter (where died_at is null and (ready or worker is null))::int as waiting,
           count(*) filter (where died_at is null and not ready and worker is not null)::int as active,
           count(*) filter (where died_at is not null)::int as dead
      from work
     where kind not like '${TIMERS}%' and kind not in (select kind from work_lanes where kind is not null)
     group by kind order by kind`,
};

const DEAD = `from work where died_at is not null and ($1::text is null or kind = $1)`;

const COUNT: Statement = { name: 'work_dead_count', text: `select count(*)::int as total ${DEAD}` };

const list = (direction: 'asc' | 'desc'): Statement => ({
  name: `work_dead_${direction}`,
  text: `
    select dead_id as id, kind as queue, attempts, coalesce(error, 'unknown') as error,
           added_at as enqueued_at, died_at as created_at
    ${DEAD}
     order by died_at ${direction}, dead_id ${direction} limit $2 offset $3`,
});

const REQUEUE: Statement = {
  name: 'work_requeue',
  text: `
    update work set ready = true, due_at = now(), added_at = now(), died_at = null, dead_id = null, attempts = 0
     where died_at is not null and dead_id = $1 returning kind`,
};

const KEPT_DAYS = 14;

const PRUNE: Statement = {
  name: 'work_prune',
  text: `delete from work where died_at < now() - interval '${KEPT_DAYS} days'`,
};

/** Counts of work, and dead work, for operators. Needs no running worker. */
@Injectable()
export class WorkStates {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
  ) {
    work.every('prune-dead-work', 3_600, () => this.prune());
  }

  async states(): Promise<QueueState[]> {
    return await this.statements.rows<QueueState>(STATES);
  }

  async listDead({ queue, page, per_page, sort }: DeadJobsQuery): Promise<Page<DeadJob>> {
    const name = queue ?? null;
    const [counted] = await this.statements.rows<{ total: number }>(COUNT, [name]);
    const statement = list(sort === 'created_at' ? 'asc' : 'desc');
    const place = [per_page, (page - 1) * per_page];
    const items = await this.statements.rows<DeadJob>(statement, [name, ...place]);
    return { items, total: counted!.total };
  }

  async prune(): Promise<void> {
    await this.statements.rows(PRUNE);
  }

  /** Throws `invalid_state` if the kind has stored the failure (see gaveUp). */
  async requeue(tx: Tx, id: string): Promise<void> {
    const rows = isUuid(id)
      ? await this.statements.rowsIn<{ kind: string }>(tx, REQUEUE, [id])
      : [];
    const [row] = rows;
    if (!row) throw new NotFoundError('Dead job');
    if (this.work.endsGivenUp(row.kind)) {
      const message = `The run of this ${row.kind} job has failed, and a failed run does not continue. Start a new run.`;
      throw new AppError('invalid_state', message);
    }
    afterCommit(tx, () => this.work.wake());
  }
}
