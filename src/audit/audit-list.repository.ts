import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstIdAt } from '../platform/ids.js';

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

export interface ListedRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly details: Record<string, unknown>;
  readonly hash: Buffer | null;
}

@Injectable()
export class AuditListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Ids begin with their time, so that the primary key is the order of the list, and its bounds in time. */
  async page(filter: AuditFilter, window: AuditWindow): Promise<ListedRow[]> {
    const { where, values } = conditions(filter);
    const direction = window.ascending ? 'asc' : 'desc';
    return await this.dataSource.query(
      `with page as (
         select * from audit_log a ${where} order by a.id ${direction}
         offset $${values.length + 1} limit $${values.length + 2})
       select p.id, p.at, p.actor, p.action, p.subject_type, p.subject_id, p.details,
              (select s.hash from audit_seals s where s.audit_id = p.id) as hash
       from page p
       order by p.id ${direction}`,
      [...values, window.offset, window.limit],
    );
  }

  async count(filter: AuditFilter): Promise<number> {
    const { where, values } = conditions(filter);
    if (where === '') return await this.countAll();
    return await this.countRows(`select count(*) as total from audit_log a ${where}`, values);
  }

  /** The chain has counted its rows already: only those that are not sealed yet remain to be counted. */
  private async countAll(): Promise<number> {
    const [chain] = await this.dataSource.query<{ sealed_to: string | null }[]>(
      'select sealed_to::text as sealed_to from audit_chain',
    );
    const sealedTo = chain?.sealed_to ?? null;
    return sealedTo === null
      ? await this.countRows('select count(*) as total from audit_log', [])
      : await this.countRows(COUNT_BEYOND, [sealedTo]);
  }

  private async countRows(sql: string, values: unknown[]): Promise<number> {
    const [row] = await this.dataSource.query<{ total: string }[]>(sql, values);
    return Number(row?.total ?? 0);
  }
}

/**
 * Exact also when the sealer goes on in between: the snapshot only says where to look, and comes as a parameter because
 * the planner then knows how little that is.
 */
const COUNT_BEYOND = `
  select (select seq from audit_chain) + count(*) as total from audit_log a
  where (a.xid >= pg_snapshot_xmax($1::pg_snapshot) or a.xid = any (array(select pg_snapshot_xip($1::pg_snapshot))))
    and (select true from audit_seals s where s.audit_id = a.id) is null`;

function conditions({ actor, action, subject, from, to }: AuditFilter): {
  where: string;
  values: unknown[];
} {
  const values: unknown[] = [];
  const given = [
    { sql: 'a.actor = $', value: actor },
    { sql: 'a.action = $', value: action },
    ...subjectConditions(subject),
    { sql: 'a.id >= $', value: from && firstIdAt(from.getTime()) },
    { sql: 'a.id < $', value: to && firstIdAt(to.getTime() + 1) },
  ].flatMap(({ sql, value }) => {
    if (value === undefined) return [];
    values.push(value);
    return [sql.replaceAll('$', () => `$${values.length}`)];
  });
  return { where: given.length === 0 ? '' : `where ${given.join(' and ')}`, values };
}

function subjectConditions(subject: SubjectFilter | undefined): { sql: string; value: string }[] {
  if (subject === undefined) return [];
  if ('typeOrId' in subject) {
    return [{ sql: '(a.subject_type = $ or a.subject_id = $)', value: subject.typeOrId }];
  }
  return [
    { sql: 'a.subject_type = $', value: subject.type },
    { sql: 'a.subject_id = $', value: subject.id },
  ];
}
