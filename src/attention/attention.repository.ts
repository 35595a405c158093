// SQL: one statement reads the tables of nine modules, so that counts and items are consistent.
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { firstIdAt } from '../platform/ids.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { incidentNumber, type IncidentStatus, type Severity } from '../incidents/incident.js';
import { titleWithoutDetails } from '../incidents/titles.js';
import { type Sort, sortsOf } from '../platform/paging/page.js';
import type { RowOf } from '../platform/validation/present.js';
import type { AttentionDto, AttentionItemDto, DoneAttentionItemDto } from './attention.dto.js';
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

export interface AttentionRequest {
  /** Kinds that the caller may see. */
  readonly visible: readonly AttentionKind[];
  /** Default: all visible kinds. */
  readonly kind?: readonly AttentionKind[];
  readonly sort: AttentionSort;
  readonly page: number;
  readonly per_page: number;
}

export type Attention = RowOf<AttentionDto>;
export type DoneItem = RowOf<DoneAttentionItemDto>;

const DAY_MS = 86_400_000;
/** Older items are not listed. */
export const LISTED_DAYS = 30;

const FOUND = ATTENTION_KINDS.map((kind) => {
  const { subject, name, reason, at, link, incident = 'null::uuid', ...rows } = ATTENTION[kind];
  return `(
    select '${kind}' as kind, ${subject} as subject, ${name} as name, ${reason} as reason, ${at} as at,
           ${link} as link, ${incident} as incident_id
      from ${rows.from}
     where '${kind}' = any(${PARAMETERS.kinds})
       and (${PARAMETERS.subject} is null or ${subject} = ${PARAMETERS.subject})
       and ${['true', ...rows.where].join('\n       and ')}
       and not exists (
         select from attention_marks mark
          where mark.kind = '${kind}' and mark.subject = ${subject} and mark.at >= ${at})
     order by ${rows.order ?? 'x.id desc'} limit ${MOST_OF_A_KIND})`;
}).join('\n    union all ');

/** Items without an incident rank like those of a high incident, because they stop events or messages. */
const URGENCY = (direction: string) =>
  ["coalesce(severity, 'high')", 'at', 'subject'].map((key) => `${key} ${direction}`).join(', ');

const ORDERS: Readonly<Record<string, (direction: string) => string>> = {
  urgency: (direction) =>
    `(rank_in_kind <= ${FIRST_OF_A_KIND}) ${direction}, ${URGENCY(direction)}`,
  at: (direction) => `at ${direction}, subject ${direction}`,
  created_at: (direction) => `at ${direction}, subject ${direction}`,
  name: (direction) => `name ${direction}, at desc, subject ${direction}`,
};

const LISTS = new Map(ATTENTION_SORTS.map((sort) => [sort, listBy(sort)]));

function listBy(sort: AttentionSort): Statement {
  const [{ field, descending }] = sortsOf([sort]) as [Sort<string>];
  return {
    name: `attention_list_${field}_${descending ? 'desc' : 'asc'}`,
    text: listText(ORDERS[field]!(descending ? 'desc' : 'asc')),
  };
}

function listText(order: string): string {
  return `
    with found as materialized (
      select item.*, i.number::text, i.created_at, i.incident_type, i.source, i.title, i.severity, i.status
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

interface ItemRow extends Pick<RowOf<AttentionItemDto>, 'name' | 'reason' | 'at' | 'link'> {
  readonly kind: AttentionKind;
  readonly subject: string;
  readonly incident_id: string | null;
  readonly number: string;
  readonly created_at: Date;
  readonly incident_type: string;
  readonly source: string;
  readonly title: string | null;
  readonly severity: Severity;
  readonly status: IncidentStatus;
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
  if (id === null) return { ...item, incident: null };
  const incident_number = incidentNumber(row.number, row.created_at);
  const title = row.title ?? titleWithoutDetails(row.incident_type, row.source);
  return { ...item, incident: { ...row, id, incident_number, title } };
}
