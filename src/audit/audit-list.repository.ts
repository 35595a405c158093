// SQL: the count of the whole trail, which looks only at what PostgreSQL's snapshot says may not be sealed yet.
import { Injectable } from '@nestjs/common';
import { DataSource, In, type SelectQueryBuilder } from 'typeorm';
import { firstIdAt } from '../platform/ids.js';
import { AuditLogEntity } from './audit-log.entity.js';
import { AuditChainEntity } from './chain/audit-chain.entity.js';
import { BEYOND_SNAPSHOT, NOT_SEALED } from './chain/audit-chain.repository.js';
import { AuditSealEntity } from './chain/audit-seal.entity.js';

export type SubjectFilter =
  { readonly type: string; readonly id: string } | { readonly typeOrId: string };

export interface AuditFilter {
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: SubjectFilter;
  readonly from?: Date;
  readonly to?: Date;
}

export interface AuditWindow {
  readonly offset: number;
  readonly limit: number;
  readonly ascending: boolean;
}

export interface ListedEntry {
  readonly entry: AuditLogEntity;
  /** Of its seal; undefined while the entry is not sealed. */
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

  /** The chain has counted its rows already: only those that are not sealed yet remain to be counted. */
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
 * Exact also when the sealer goes on meanwhile, because head and rows are read in one statement: the snapshot only says
 * where to look. It is a parameter, because the planner then knows how few rows that are.
 */
const COUNT_ALL = `
  select (select seq from audit_chain) + count(*) as total from audit_log a
  where ${BEYOND_SNAPSHOT} and ${NOT_SEALED}`;
