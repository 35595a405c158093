import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, type FindOptionsWhere, In } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import type { ProviderName } from '../model/triage-model.port.js';
import type { TriageRun, TriageRunSummary } from '../triage-run.js';
import { runOf } from './run-rows.js';
import { TriageRunEntity } from './triage-run.entity.js';

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

/** Inserts and reads runs. What a run itself writes is in RunClaimsRepository. */
@Injectable()
export class TriageRunsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Violates uq_triage_runs_open when a run of the incident waits or is under way. */
  async insert(tx: Tx, run: NewRun): Promise<TriageRun> {
    const { id, claimForMs } = run;
    await tx.getRepository(TriageRunEntity).insert({
      id,
      incident_id: run.incidentId,
      requested_by: run.requestedBy,
      force: run.force,
      playbook: run.playbook ?? null,
      provider: run.provider,
      created_at: run.createdAt,
      ...(claimForMs === undefined
        ? { status: 'queued', lease_until: () => 'now()' }
        : {
            status: 'running',
            fence: 1,
            started_at: run.createdAt,
            // A whole number of ours, which an insertion has no parameter for.
            lease_until: () => `now() + interval '${Math.trunc(claimForMs)} milliseconds'`,
          }),
    });
    return runOf(await tx.getRepository(TriageRunEntity).findOneByOrFail({ id }));
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
    return await this.one(this.dataSource.manager, { incident_id: incidentId, status: OPEN });
  }

  async openIn(tx: Tx, incidentId: string): Promise<TriageRun | undefined> {
    return await this.one(tx, { incident_id: incidentId, status: OPEN });
  }

  /** All there is to it. */
  async lastCompleted(incidentId: string): Promise<TriageRun | undefined> {
    return await this.whole({ incident_id: incidentId, status: 'completed' });
  }

  async hasCompletedIn(tx: Tx, incidentId: string): Promise<boolean> {
    const where = { incident_id: incidentId, status: 'completed' } as const;
    return await tx.getRepository(TriageRunEntity).existsBy(where);
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

  private async one(
    manager: EntityManager,
    where: FindOptionsWhere<TriageRunEntity>,
  ): Promise<TriageRun | undefined> {
    const row = await manager.getRepository(TriageRunEntity).findOneBy(where);
    return row ? runOf(row) : undefined;
  }
}
