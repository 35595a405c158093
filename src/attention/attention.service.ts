// SQL: one statement reads the tables of nine modules, so that counts and items are consistent.
import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { type Principal, requireRole } from '../auth/principal.js';
import { Clock } from '../platform/clock.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import { type Participant, Transactions } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { firstIdAt } from '../platform/ids.js';
import { sortField } from '../platform/paging/page.js';
import type { RowOf } from '../platform/validation/present.js';
import type {
  AttentionDto,
  AttentionItemDto,
  AttentionQueryDto,
  DoneAttentionItemDto,
} from './attention.dto.js';
import {
  ATTENTION,
  ATTENTION_KINDS,
  ATTENTION_SORTS,
  type AttentionKind,
  FIRST_OF_A_KIND,
  MOST_OF_A_KIND,
  roleToMark,
} from './attention-kinds.sql.js';

/** Item that a person marked as done. Later events of the same subject become new items. */
@Entity('attention_marks')
export class AttentionMarkEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly kind: AttentionKind;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly subject: string;

  /** Time of the item. Keeps microseconds, because some tables store them. */
  @Column({ type: 'timestamptz' })
  readonly at: Date;

  @Column({ type: 'text' })
  readonly done_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly done_at: Date;

  @Column({ type: 'text' })
  readonly reason: string;
}

const DAY_MS = 86_400_000;
export const LISTED_DAYS = 30;

const FOUND = ATTENTION_KINDS.map((kind) => {
  const { subject = 'x.id::text', name = 'x.name', reason, at, link, ...rows } = ATTENTION[kind];
  const { incident = 'null::uuid', byId, from, where } = rows;
  const conditions = byId ? ['x.id >= $4', ...where] : ['true', ...where];
  return `(
    select '${kind}' as kind, ${subject} as subject, ${name} as name, ${reason} as reason, ${at} as at,
           ${link} as link, ${incident} as incident_id
      from ${from}
     where '${kind}' = any($1::text[])
       and ($2::text is null or ${subject} = $2::text)
       and ${conditions.join('\n       and ')}
       and not exists (
         select from attention_marks mark
          where mark.kind = '${kind}' and mark.subject = ${subject} and mark.at >= ${at})
     order by ${byId ? 'x.id' : at} desc limit ${MOST_OF_A_KIND})`;
}).join('\n    union all ');

/** Items without an incident are as urgent as severity high, because their failures stop events or messages. */
const URGENCY = ["coalesce(severity, 'high')", 'at', 'subject'];
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  urgency: [`(rank_in_kind <= ${FIRST_OF_A_KIND})`, ...URGENCY],
  at: ['at', 'subject'],
  created_at: ['at', 'subject'],
  name: ['name', 'at', 'subject'],
};
const inOrder = (keys: readonly string[], direction: string) =>
  keys.map((key) => `${key} ${direction}`).join(', ');

const LISTS = new Map(
  ATTENTION_SORTS.map((sort): [string, Statement] => {
    const field = sortField(sort);
    const direction = field === sort ? 'asc' : 'desc';
    const text = `
    with found as materialized (
      select item.*, i.severity, case when i.id is not null then
             json_build_object('id', i.id, 'incident_number', i.incident_number, 'title', i.title,
                               'severity', i.severity, 'status', i.status) end as incident
        from (${FOUND}) as item
        left join incidents i on i.id = item.incident_id
       where i.deleted_at is null),
    counted as (select kind, count(*)::integer as n from found group by kind),
    ranked as (
      select *, row_number() over (partition by kind order by ${inOrder(URGENCY, 'desc')}) as rank_in_kind
        from found where kind = any($5::text[])),
    placed as (
      select *, row_number() over (order by ${inOrder(ORDERS[field]!, direction)}) as place from ranked)
    select counted.kind as counted, counted.n, page.*
      from counted
      left join (
        select * from placed where place > $6::bigint and place <= $6::bigint + $7::bigint
      ) as page on page.kind = counted.kind
     order by page.place`;
    return [sort, { name: `attention_list_${field}_${direction}`, text }];
  }),
);

type ListRow = { readonly counted: AttentionKind; readonly n: number } & (
  | (Omit<RowOf<AttentionItemDto>, 'id' | 'kind' | 'role'> & {
      readonly kind: AttentionKind;
      readonly subject: string;
    })
  | { readonly kind: null }
);

const MARK: Statement = {
  name: 'attention_mark',
  text: `
    with found as (${FOUND})
    insert into attention_marks (kind, subject, at, done_by, reason)
    select kind, subject, at, $5, $6 from found
    on conflict (kind, subject) do update
       set at = excluded.at, done_by = excluded.done_by, done_at = now(), reason = excluded.reason
       where attention_marks.at < excluded.at
    returning kind || '.' || subject as id, done_by, done_at, reason`,
};

@Injectable()
export class AttentionService {
  constructor(
    private readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async list(
    { role }: Principal,
    { kind, sort, page, limit, per_page = limit }: AttentionQueryDto,
  ): Promise<RowOf<AttentionDto>> {
    const visible = ATTENTION_KINDS.filter(
      (name) => role === 'admin' || !ATTENTION[name].adminOnly,
    );
    const chosen = kind ?? visible;
    const rows = await this.statements.rows<ListRow>(LISTS.get(sort)!, [
      ...this.range(visible),
      ...[chosen, (page - 1) * per_page, per_page],
    ]);
    const numbers = new Map(rows.map(({ counted, n }) => [counted, n]));
    const counts = visible.map((name) => ({ kind: name, count: numbers.get(name) ?? 0 }));
    return {
      total: counts.reduce((sum, one) => sum + (chosen.includes(one.kind) ? one.count : 0), 0),
      counts,
      items: rows
        .filter((row) => row.kind !== null)
        .map((row) => ({ ...row, id: `${row.kind}.${row.subject}`, role: roleToMark(row.kind) })),
    };
  }

  /** Throws NotFoundError if the item is no longer in the list, for example because the failure was fixed. */
  async done(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<DoneAttentionItemDto>,
  ): Promise<DoneAttentionItemDto> {
    const [name, ...subject] = id.split('.');
    const kind = ATTENTION_KINDS.find((one) => one === name);
    if (!kind) throw new NotFoundError('Attention item');
    requireRole(caller, roleToMark(kind));
    return await this.transactions.run(
      async (tx) => {
        const values = [...this.range([kind], subject.join('.')), caller.name, reason];
        const [done] = await this.statements.rowsIn<DoneAttentionItemDto>(tx, MARK, values);
        if (!done) throw new NotFoundError('Attention item');
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'attention.done',
          subject: { type: 'attention_item', id },
          details: { reason },
        });
        return done;
      },
      caller,
      idempotency,
    );
  }

  private range(kinds: readonly AttentionKind[], subject?: string): unknown[] {
    const since = this.clock.now().getTime() - LISTED_DAYS * DAY_MS;
    return [kinds, subject ?? null, new Date(since), firstIdAt(since)];
  }
}
