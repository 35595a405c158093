// SQL: one statement reads the tables of nine modules, so that counts and items are consistent.
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { firstIdAt } from '../platform/ids.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { sortField } from '../platform/paging/page.js';
import type { RowOf } from '../platform/validation/present.js';
import type {
  AttentionDto,
  AttentionIncidentDto,
  AttentionItemDto,
  AttentionQueryDto,
  DoneAttentionItemDto,
} from './attention.dto.js';
import {
  ATTENTION,
  ATTENTION_KINDS,
  ATTENTION_SORTS,
  type AttentionKind,
  type AttentionSort,
  FIRST_OF_A_KIND,
  MOST_OF_A_KIND,
  PARAMETERS,
  roleToMark,
} from './attention-kinds.sql.js';

/** `visible`: the kinds that the caller may see. */
export type AttentionRequest = Pick<AttentionQueryDto, 'kind' | 'sort' | 'page'> &
  Readonly<{ per_page: number; visible: readonly AttentionKind[] }>;

export type Attention = RowOf<AttentionDto>;
export type DoneItem = RowOf<DoneAttentionItemDto>;

const DAY_MS = 86_400_000;
/** Older items are not listed. */
export const LISTED_DAYS = 30;

const FOUND = ATTENTION_KINDS.map((kind) => {
  const { subject = 'x.id::text', name = 'x.name', reason, at, link, ...rows } = ATTENTION[kind];
  const { incident = 'null::uuid', byId, from, where } = rows;
  const conditions = byId ? [`x.id >= ${PARAMETERS.firstId}`, ...where] : ['true', ...where];
  return `(
    select '${kind}' as kind, ${subject} as subject, ${name} as name, ${reason} as reason, ${at} as at,
           ${link} as link, ${incident} as incident_id
      from ${from}
     where '${kind}' = any(${PARAMETERS.kinds})
       and (${PARAMETERS.subject} is null or ${subject} = ${PARAMETERS.subject})
       and ${conditions.join('\n       and ')}
       and not exists (
         select from attention_marks mark
          where mark.kind = '${kind}' and mark.subject = ${subject} and mark.at >= ${at})
     order by ${byId ? 'x.id' : at} desc limit ${MOST_OF_A_KIND})`;
}).join('\n    union all ');

/** Items without an incident rank like those of a high incident, because they stop events or messages. */
const URGENCY = (direction: string) =>
  ["coalesce(severity, 'high')", 'at', 'subject'].map((key) => `${key} ${direction}`).join(', ');

const byTime = (direction: string) => `at ${direction}, subject ${direction}`;
const ORDERS: Readonly<Record<string, (direction: string) => string>> = {
  urgency: (direction) =>
    `(rank_in_kind <= ${FIRST_OF_A_KIND}) ${direction}, ${URGENCY(direction)}`,
  at: byTime,
  created_at: byTime,
  name: (direction) => `name ${direction}, at desc, subject ${direction}`,
};

const LISTS = new Map(ATTENTION_SORTS.map((sort) => [sort, listBy(sort)]));

function listBy(sort: AttentionSort): Statement {
  const field = sortField(sort);
  const direction = field === sort ? 'asc' : 'desc';
  const order = ORDERS[field]!(direction);
  const text = `
    with found as materialized (
      select item.*, i.incident_number, i.title, i.severity, i.status
        from (${FOUND}) as item
        left join incidents i on i.id = item.incident_id
       where i.deleted_at is null),
    counted as (select kind, count(*)::integer as n from found group by kind),
    ranked as (
      select *, row_number() over (partition by kind order by ${URGENCY('desc')}) as rank_in_kind
        from found where kind = any($5::text[])),
    placed as (select *, row_number() over (order by ${order}) as place from ranked)
    select counted.kind as counted, counted.n, page.*
      from counted
      left join (
        select * from placed where place > $6::bigint and place <= $6::bigint + $7::bigint
      ) as page on page.kind = counted.kind
     order by page.place`;
  return { name: `attention_list_${field}_${direction}`, text };
}

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

interface ItemRow
  extends
    Pick<RowOf<AttentionItemDto>, 'name' | 'reason' | 'at' | 'link'>,
    Omit<RowOf<AttentionIncidentDto>, 'id'> {
  readonly kind: AttentionKind;
  readonly subject: string;
  readonly incident_id: string | null;
}

type ListRow = { readonly counted: AttentionKind; readonly n: number } & (
  ItemRow | { readonly kind: null }
);

@Injectable()
export class AttentionRepository {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  async list({
    visible,
    kind: chosen = visible,
    sort,
    page,
    per_page,
  }: AttentionRequest): Promise<Attention> {
    const values = [...this.range(visible), [...chosen], (page - 1) * per_page, per_page];
    const rows = await this.statements.rows<ListRow>(LISTS.get(sort)!, values);
    const numbers = new Map(rows.map(({ counted, n }) => [counted, n]));
    const counts = visible.map((kind) => ({ kind, count: numbers.get(kind) ?? 0 }));
    return {
      total: counts.reduce((sum, { kind, count }) => sum + (chosen.includes(kind) ? count : 0), 0),
      counts,
      items: rows.filter((row) => row.kind !== null).map(itemOf),
    };
  }

  /** Returns `undefined` if the item does not exist, for example because it is fixed. */
  async mark(
    tx: Tx,
    { kind, subject }: Pick<ItemRow, 'kind' | 'subject'>,
    { by, reason }: { readonly by: string; readonly reason: string },
  ): Promise<DoneItem | undefined> {
    const values = [...this.range([kind], subject), by, reason];
    return (await this.statements.rowsIn<DoneItem>(tx, MARK, values))[0];
  }

  private range(kinds: readonly AttentionKind[], subject?: string): unknown[] {
    const since = this.clock.now().getTime() - LISTED_DAYS * DAY_MS;
    return [[...kinds], subject ?? null, new Date(since), firstIdAt(since)];
  }
}

function itemOf({ kind, subject, incident_id: id, ...row }: ItemRow): RowOf<AttentionItemDto> {
  const item = { ...row, id: `${kind}.${subject}`, kind, role: roleToMark(kind) };
  return { ...item, incident: id === null ? null : { ...row, id } };
}
