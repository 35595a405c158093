// SQL: page and total in one statement, and a total that counts only rows that may be unsealed.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstIdAt } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import type { AuditQueryDto, AuditRecordDto } from './audit.dto.js';
import { subjectId } from './audit-log.js';
import { AuditChainEntity } from './audit.entity.js';
import { BEYOND_SNAPSHOT, NOT_SEALED } from './chain/audit-chain.repository.js';

/** `hash` is null until the entry is sealed. */
type Listed = Omit<AuditRecordDto, 'hash'> & { readonly hash: string | null };

@Injectable()
export class AuditRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Lists entries in the order of the primary key, because ids begin with their time. */
  async list({ page, per_page, sort, ...filter }: AuditQueryDto): Promise<Page<Listed>> {
    const values: unknown[] = [];
    const add = (value: unknown) => `$${values.push(value)}`;
    const conditions = conditionsOf(filter, add);
    const total = conditions
      ? `select count(*) as total from audit_log a ${conditions}`
      : await this.totalOfAll(add);
    const direction = sort.startsWith('-') ? 'desc' : 'asc';
    const [first, ...others] = await this.dataSource.query<(Listed & { total: string })[]>(
      `select counted.total, page.*, encode(s.hash, 'hex') as hash from (${total}) counted
       left join (
         select id, at, actor, action, json_build_object('type', subject_type, 'id', subject_id) as subject, details
         from audit_log a ${conditions}
         order by id ${direction} offset ${add((page - 1) * per_page)} limit ${add(per_page)}) page on true
       left join audit_seals s on s.audit_id = page.id
       order by page.id ${direction}`,
      values,
    );
    // For an empty page, the single row contains only the total.
    const items = first?.id ? [first, ...others] : [];
    return { items, total: Number(first?.total) };
  }

  /**
   * Counts all entries. The number of the last seal is the number of sealed rows. The total is exact even while the sealer
   * runs, because one statement reads head and rows. The snapshot is a parameter, so that the planner estimates the few
   * selected rows.
   */
  private async totalOfAll(add: (value: unknown) => string): Promise<string> {
    const head = await this.dataSource
      .getRepository(AuditChainEntity)
      .findOneBy({ only_row: true });
    if (!head?.sealed_to) return 'select count(*) as total from audit_log';
    add(head.sealed_to);
    return `select (select seq from audit_chain) + count(*) as total from audit_log a where ${BEYOND_SNAPSHOT} and ${NOT_SEALED}`;
  }
}

/** Where clause of a filter; empty without a filter. A subject is a type, an id or `type:id`. An id may contain colons. */
function conditionsOf(
  { actor, action, subject, from, to }: Omit<AuditQueryDto, 'page' | 'per_page' | 'sort'>,
  add: (value: unknown) => string,
): string {
  const conditions: string[] = [];
  if (actor !== undefined) conditions.push(`a.actor = ${add(actor)}`);
  if (action !== undefined) conditions.push(`a.action = ${add(action)}`);
  if (subject !== undefined) {
    const [, type, id] = /^([^:]*):(.*)$/s.exec(subject) ?? [];
    conditions.push(
      type === undefined
        ? `(a.subject_type = ${add(subject)} or a.subject_id = ${add(subjectId(subject))})`
        : `a.subject_type = ${add(type)} and a.subject_id = ${add(subjectId(id!))}`,
    );
  }
  if (from !== undefined) conditions.push(`a.id >= ${add(firstIdAt(Date.parse(from)))}`);
  if (to !== undefined) conditions.push(`a.id < ${add(firstIdAt(Date.parse(to) + 1))}`);
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}
