// SQL for what a transaction reads and inserts for many runs in one statement.
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type FindOptionsWhere, In } from 'typeorm';
import { SetOf } from '../../platform/concurrency/joint-transactions.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import type { ProviderName } from '../model/triage-model.port.js';
import type { TriageRun, TriageRunSummary } from '../triage-run.js';
import { LISTED_COLUMNS, runOf, type RunRow, TriageRunEntity } from './triage-run.entity.js';

export interface NewRun {
  readonly id: string;
  readonly incidentId: string;
  readonly requestedBy: string;
  readonly force: boolean;
  readonly playbook?: string;
  readonly provider: ProviderName;
  readonly createdAt: Date;
  /** It is claimed by the transaction that creates it. Without this it waits for a run of any replica. */
  readonly claimForMs?: number;
}

export interface RunListRequest extends PageRequest {
  readonly newestFirst: boolean;
}

const OPEN = In(['queued', 'running']);

const INSERT: Statement = {
  name: 'triage_runs_insert',
  text: `
    insert into triage_runs as run (
      id, incident_id, requested_by, force, playbook, provider, created_at, status, fence, started_at, lease_until)
    select id, "incidentId", "requestedBy", force, playbook, provider, "createdAt",
           case when claim_ms is null then 'queued' else 'running' end,
           case when claim_ms is null then 0 else 1 end,
           case when claim_ms is null then null else "createdAt" end,
           now() + coalesce(claim_ms, 0) * interval '1 millisecond'
      from json_to_recordset($1::json) as added (
        id uuid, "incidentId" uuid, "requestedBy" text, force boolean, playbook text, provider text,
        "createdAt" timestamptz, claim_ms integer)
     order by "incidentId"
    returning ${LISTED_COLUMNS}`,
};

const OPEN_OF: Statement = {
  name: 'triage_runs_open_of',
  text: `
    select ${LISTED_COLUMNS} from triage_runs run
     where run.incident_id = any($1::uuid[]) and run.status in ('queued', 'running')`,
};

const COMPLETED_OF: Statement = {
  name: 'triage_runs_completed_of',
  text: `
    select incident_id from unnest($1::uuid[]) as incident_id
     where exists (select from triage_runs where triage_runs.incident_id = incident_id.incident_id and status = 'completed')`,
};

/** Inserts and reads runs. What a run itself writes is in RunClaimsRepository. */
@Injectable()
export class TriageRunsRepository {
  private readonly insertions = new SetOf<NewRun, TriageRun>((tx, runs) =>
    this.insertAll(tx, runs),
  );
  private readonly openRuns = new SetOf<string, TriageRun | undefined>((tx, ids) =>
    this.openOf(tx, ids),
  );
  private readonly completed = new SetOf<string, boolean>((tx, ids) => this.completedOf(tx, ids));

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** Violates uq_triage_runs_open when a run of the incident waits or is under way. */
  async insert(tx: Tx, run: NewRun): Promise<TriageRun> {
    return await this.insertions.submit(tx, run);
  }

  /** All there is to it. */
  async find(incidentId: string, id: string): Promise<TriageRun | undefined> {
    return await this.whole({ id, incident_id: incidentId });
  }

  /** The page and the total are of one moment in a snapshot. */
  async list(
    snapshot: EntityManager,
    incidentId: string,
    { page, per_page, newestFirst }: RunListRequest,
  ): Promise<Page<TriageRunSummary>> {
    const [rows, total] = await snapshot.getRepository(TriageRunEntity).findAndCount({
      where: { incident_id: incidentId },
      order: { id: newestFirst ? 'DESC' : 'ASC' },
      skip: (page - 1) * per_page,
      take: per_page,
    });
    return { items: rows.map(runOf), total };
  }

  /** The run of the incident that waits or is under way. */
  async open(incidentId: string): Promise<TriageRun | undefined> {
    const where = { incident_id: incidentId, status: OPEN };
    const row = await this.dataSource.getRepository(TriageRunEntity).findOneBy(where);
    return row ? runOf(row) : undefined;
  }

  async openIn(tx: Tx, incidentId: string): Promise<TriageRun | undefined> {
    return await this.openRuns.submit(tx, incidentId);
  }

  /** All there is to it. */
  async lastCompleted(incidentId: string): Promise<TriageRun | undefined> {
    return await this.whole({ incident_id: incidentId, status: 'completed' });
  }

  async hasCompletedIn(tx: Tx, incidentId: string): Promise<boolean> {
    return await this.completed.submit(tx, incidentId);
  }

  /** How many wait and how many are under way: of an index that holds no others. */
  async countOpen(): Promise<Readonly<Record<'queued' | 'running', number>>> {
    const rows = await this.dataSource
      .getRepository(TriageRunEntity)
      .createQueryBuilder('run')
      .select('run.status', 'status')
      .addSelect('count(*)::int', 'count')
      .where({ status: OPEN })
      .groupBy('run.status')
      .getRawMany<{ status: 'queued' | 'running'; count: number }>();
    const counts = rows.map(({ status, count }) => [status, count] as const);
    return { queued: 0, running: 0, ...Object.fromEntries(counts) };
  }

  /** The newest, with what lists leave out. */
  private async whole(where: FindOptionsWhere<TriageRunEntity>): Promise<TriageRun | undefined> {
    const row = await this.dataSource
      .getRepository(TriageRunEntity)
      .createQueryBuilder('run')
      .addSelect(['run.points', 'run.tool_calls'])
      .where(where)
      .orderBy('run.id', 'DESC')
      .limit(1)
      .getOne();
    return row ? runOf(row) : undefined;
  }

  private async insertAll(tx: Tx, runs: readonly NewRun[]): Promise<TriageRun[]> {
    const rows = await this.statements.rowsIn<RunRow>(tx, INSERT, [
      JSON.stringify(runs.map(({ claimForMs, ...run }) => ({ ...run, claim_ms: claimForMs }))),
    ]);
    const inserted = new Map(rows.map((row) => [row.id, runOf(row)]));
    return runs.map(({ id }) => inserted.get(id)!);
  }

  private async openOf(tx: Tx, incidentIds: readonly string[]): Promise<(TriageRun | undefined)[]> {
    const rows = await this.statements.rowsIn<RunRow>(tx, OPEN_OF, [incidentIds]);
    const found = new Map(rows.map((row) => [row.incident_id, runOf(row)]));
    return incidentIds.map((id) => found.get(id));
  }

  private async completedOf(tx: Tx, incidentIds: readonly string[]): Promise<boolean[]> {
    const rows = await this.statements.rowsIn<Pick<RunRow, 'incident_id'>>(tx, COMPLETED_OF, [
      incidentIds,
    ]);
    const found = new Set(rows.map(({ incident_id }) => incident_id));
    return incidentIds.map((id) => found.has(id));
  }
}
