// SQL: the total of the trail, which counts only the rows that a snapshot of PostgreSQL marks as possibly unsealed.
import { Injectable } from '@nestjs/common';
import { DataSource, In, type SelectQueryBuilder } from 'typeorm';
import { firstIdAt } from '../platform/ids.js';
import { AuditLogEntity, AuditChainEntity, AuditSealEntity } from './audit.entity.js';
import { BEYOND_SNAPSHOT, NOT_SEALED } from './chain/audit-chain.repository.js';

type SubjectFilter = { readonly type: string; readonly id: string } | { readonly typeOrId: string };

export interface AuditFilter {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: SubjectFilter;
  readonly from?: Date;
  readonly to?: Date;
}

interface AuditWindow {
  readonly offset: number;
  readonly limit: number;
  readonly ascending: boolean;
}

export interface ListedEntry {
  readonly entry: AuditLogEntity;
  /** Hash of the seal; `undefined` until the entry is sealed. */
  readonly hash?: Buffer;
}

@Injectable()
export class AuditListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Ids begin with their time, so the primary key gives the order of the list. */
  async page(filter: AuditFilter, window: AuditWindow): Promise<ListedEntry[]> {
    const entries = await this.matching(filter)
      .orderBy('a.id', window.ascending ? 'ASC' : 'DESC')
      .offset(window.offset)
      .limit(window.limit)
      .getMany();
    const seals = await this.dataSource
      .getRepository(AuditSealEntity)
      .findBy({ audit_id: In(entries.map(({ id }) => id)) });
    const hashes = new Map(seals.map(({ audit_id, hash }) => [audit_id, hash]));
    return entries.map((entry) => ({ entry, hash: hashes.get(entry.id) }));
  }

  async count(filter: AuditFilter): Promise<number> {
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    return isFiltered ? await this.matching(filter).getCount() : await this.countAll();
  }

  /** The number of the last seal counts the sealed rows. Only the unsealed rows are counted. */
  private async countAll(): Promise<number> {
    const head = await this.dataSource
      .getRepository(AuditChainEntity)
      .findOneBy({ only_row: true });
    if (!head?.sealed_to) return await this.dataSource.getRepository(AuditLogEntity).count();
    const [row] = await this.dataSource.query<{ total: string }[]>(COUNT_ALL, [head.sealed_to]);
    return Number(row?.total ?? 0);
  }

  private matching({ actor, action, subject, from, to }: AuditFilter) {
    const query = this.dataSource.getRepository(AuditLogEntity).createQueryBuilder('a');
    if (actor !== undefined) query.andWhere('a.actor = :actor', { actor });
    if (action !== undefined) query.andWhere('a.action = :action', { action });
    if (subject !== undefined) addSubject(query, subject);
    // Ids begin with their time.
    if (from) query.andWhere('a.id >= :from', { from: firstIdAt(from.getTime()) });
    if (to) query.andWhere('a.id < :before', { before: firstIdAt(to.getTime() + 1) });
    return query;
  }
}

function addSubject(query: SelectQueryBuilder<AuditLogEntity>, subject: SubjectFilter): void {
  if ('typeOrId' in subject) {
    query.andWhere('(a.subject_type = :typeOrId or a.subject_id = :typeOrId)', subject);
  } else {
    query.andWhere('a.subject_type = :type and a.subject_id = :id', subject);
  }
}

/**
 * Exact even while the sealer runs, because head and rows are read in one statement. The snapshot is a parameter, so
 * that the planner knows how few rows it selects.
 */
const COUNT_ALL = `
  select (select seq from audit_chain) + count(*) as total from audit_log a
  where ${BEYOND_SNAPSHOT} and ${NOT_SEALED}`;
