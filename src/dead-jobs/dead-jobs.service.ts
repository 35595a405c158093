// SQL: counts all lanes with one group by, and reads the pages of dead work.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import type { Principal } from '../auth/principal.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { isUuid } from '../platform/ids.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import type { Page } from '../platform/paging/page.js';
import { TIMERS, Work } from '../platform/work/work.js';
import type { DeadJobDto, DeadJobsQueryDto } from './dead-jobs.dto.js';

type Counts = Readonly<Record<'waiting' | 'active' | 'dead', number>>;

/** Omits timers, and kinds of work that have their own gauges. */
const COUNTS: Statement = {
  name: 'work_counts',
  text: `
    select count(*) filter (where died_at is null and (ready or worker is null))::int as waiting,
           count(*) filter (where died_at is null and not ready and worker is not null)::int as active,
           count(*) filter (where died_at is not null)::int as dead
      from work
     where kind not like '${TIMERS}%' and kind not in (select kind from work_lanes where kind is not null)`,
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

@Injectable()
export class DeadJobsService implements OnModuleInit {
  constructor(
    private readonly statements: Statements,
    private readonly work: Work,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('jobs', () => this.health());
    this.gauges.register('jobs_waiting', async () => (await this.counts()).waiting);
    this.gauges.register('jobs_dead', async () => (await this.counts()).dead);
    this.work.every('prune-dead-work', 3_600, () => this.prune());
  }

  async list({ queue, page, per_page, sort }: DeadJobsQueryDto): Promise<Page<DeadJobDto>> {
    const name = queue ?? null;
    const [counted] = await this.statements.rows<{ total: number }>(COUNT, [name]);
    const statement = list(sort === 'created_at' ? 'asc' : 'desc');
    const place = [per_page, (page - 1) * per_page];
    const items = await this.statements.rows<DeadJobDto>(statement, [name, ...place]);
    return { items, total: counted!.total };
  }

  /** Throws `invalid_state` if the kind of the work has stored the failure (see `gaveUp` of Kind). */
  async requeue(caller: Principal, id: string, idempotency: Participant<string>): Promise<string> {
    const requeue = async (tx: Tx): Promise<string> => {
      const found = isUuid(id) ? await this.statements.rowsIn(tx, REQUEUE, [id]) : [];
      const [row] = found as { kind: string }[];
      if (!row) throw new NotFoundError('Dead job');
      if (this.work.endsGivenUp(row.kind)) {
        const message = `The run of this ${row.kind} job has failed, and a failed run does not continue. Start a new run.`;
        throw new AppError('invalid_state', message);
      }
      afterCommit(tx, () => this.work.wake());
      const subject = { type: 'job', id } as const;
      await this.audit.record(tx, { actor: caller.name, action: 'job.requeued', subject });
      return id;
    };
    return await this.transactions.run(requeue, caller, idempotency);
  }

  async counts(): Promise<Counts> {
    return (await this.statements.rows<Counts>(COUNTS))[0]!;
  }

  async prune(): Promise<void> {
    await this.statements.rows(PRUNE);
  }

  /** Dead jobs need an operator but block no other job. So they do not make the queue unhealthy. */
  private async health(): Promise<ComponentHealth> {
    if (!this.work.started) {
      return { status: 'degraded', message: 'The job queue has not started yet.' };
    }
    return { status: 'healthy', ...(await this.counts()) };
  }
}
