// SQL: a list is one statement with its exact total. What waits is counted for all replicas.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { IncidentReference } from '../../incidents/incident-reference.js';
import { countedList, equal } from '../../platform/counting/counted-list.js';
import {
  BY_ID,
  countOf,
  pageOf,
  type WithTotal,
} from '../../platform/counting/counted-list.sql.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { HealthComponents } from '../../platform/health-components.js';
import { firstIdAfter, firstIdAt, wholeMs } from '../../platform/ids.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { type Page, sortsOf, sortWords } from '../../platform/paging/page.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Choice, Id, Instant } from '../../platform/validation/fields.js';
import { Words } from '../../platform/validation/query-fields.js';
import {
  PLAYBOOK_RUN_STATUSES,
  type PlaybookRun,
  type PlaybookRunStatus,
  RUN_COLUMNS,
  RUN_OUTCOMES,
  RUN_WORK,
  type RunOutcome,
} from './playbook-run.js';

/** The same rule as `outcomeOf`. */
const OUTCOMES: Readonly<Record<RunOutcome, string>> = {
  succeeded: `(status = 'completed' and steps_failed = 0)`,
  partial: `(status = 'completed' and steps_failed > 0)`,
  failed: `(status = 'failed')`,
  cancelled: `(status = 'cancelled')`,
};

/** Filters have the names of the query parameters. Ids begin with the time of the start. */
const runList = countedList({
  table: 'playbook_runs',
  columns: RUN_COLUMNS.join(', '),
  counts: 'playbook_run',
  counted: {
    playbook_id: { filter: 'playbook_id', type: 'uuid' },
    status: { filter: 'status', type: 'text', all: PLAYBOOK_RUN_STATUSES },
  },
  indexes: [['playbook_id'], ['playbook_id', 'status'], ['status']],
  filters: {
    outcome: (outcomes: readonly RunOutcome[]) =>
      `(${outcomes.map((outcome) => OUTCOMES[outcome]).join(' or ')})`,
    incident_id: equal('incident_id', 'uuid'),
    from: (time: string, values) => `id >= ${values.add(firstIdAt(wholeMs(time)), 'uuid')}`,
    to: (time: string, values) => `id < ${values.add(firstIdAfter(time), 'uuid')}`,
  },
  sorts: { created_at: BY_ID },
});

const SORTS = sortWords('created_at');

export class PlaybookRunsQueryDto extends PageQueryDto {
  @Words('PlaybookRunStatus', PLAYBOOK_RUN_STATUSES, { optional: true })
  readonly status?: readonly PlaybookRunStatus[];

  @Words('PlaybookRunEnd', RUN_OUTCOMES, {
    optional: true,
    description: 'Runs that ended with one of these outcomes.',
  })
  readonly outcome?: readonly RunOutcome[];

  @IncidentReference({
    optional: true,
    description: 'Id or number of the incident.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Instant({ optional: true, description: 'Runs that started at or after this time.' })
  readonly from?: string;

  @Instant({ optional: true, description: 'Runs that started at or before this time.' })
  readonly to?: string;

  @Choice('PlaybookRunSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: 'Order by the time of the start.',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

export class AllPlaybookRunsQueryDto extends PlaybookRunsQueryDto {
  @Id('PlaybookId', {
    optional: true,
    description: 'Id of the playbook, also of a deleted one.',
    example: undefined,
  })
  readonly playbook_id?: string;
}

const countOpen = (status: 'running' | 'waiting_approval') => `
    greatest(0, ${countOf('playbook_run', [`status = '${status}'`])}
      - (select count(*) from idle where status = '${status}'))::integer as ${status}`;

/** A run with work that no replica has claimed is only counted as `due` or `rate_limited`. */
const OPEN: Statement = {
  name: 'playbook_runs_open_counts',
  text: `
    with idle as materialized (
      select run.status, coalesce(run.starts_at > now(), false) as is_early,
             greatest(work.added_at, run.starts_at) as since
        from work
       cross join lateral (select status, starts_at from playbook_runs where id = work.ref limit 1) as run
       where work.kind = '${RUN_WORK.name}' and work.died_at is null and (work.ready or work.worker is null))
    select count(*) filter (where not is_early)::integer as due,
           count(*) filter (where is_early)::integer as rate_limited,
           coalesce(extract(epoch from now() - min(since) filter (where not is_early)), 0)::float8 as oldest_due_seconds,
           ${countOpen('running')}, ${countOpen('waiting_approval')}
      from idle`,
};

const OPEN_STATUSES = ['due', 'rate_limited', 'running', 'waiting_approval'] as const;
type OpenCounts = Readonly<Record<(typeof OPEN_STATUSES)[number] | 'oldest_due_seconds', number>>;

/** Lists runs, and shows open runs in metrics and health. */
@Injectable()
export class PlaybookRunLists implements OnModuleInit {
  constructor(
    private readonly statements: Statements,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.gauges.register('playbook_runs', async () => {
      const counts = await this.openCounts();
      return OPEN_STATUSES.map((status) => [{ status }, counts[status]] as const);
    });
    this.gauges.register(
      'playbook_runs_oldest_due_seconds',
      async () => (await this.openCounts()).oldest_due_seconds,
    );
    this.components.addDetails('jobs', async () => {
      return { playbook_runs_due: (await this.openCounts()).due };
    });
  }

  async list({
    playbook_id,
    sort,
    ...request
  }: AllPlaybookRunsQueryDto): Promise<Page<PlaybookRun>> {
    const { statement, values } = runList({
      ...request,
      playbook_id: playbook_id === undefined ? undefined : [playbook_id],
      sort: sortsOf([sort]),
    });
    const rows = await this.statements.rows<PlaybookRun & WithTotal>(statement, values);
    return pageOf(rows, (run) => run);
  }

  private async openCounts(): Promise<OpenCounts> {
    return (await this.statements.rows<OpenCounts>(OPEN))[0]!;
  }
}
