// SQL: one statement reads the tables of nine modules, so that counts and items are consistent.
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { firstIdAt } from '../platform/ids.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { type Sort, sortsOf } from '../platform/paging/page.js';
import {
  type Attention,
  ATTENTION_KINDS,
  ATTENTION_SORTS,
  type AttentionSort,
  FIRST_OF_A_KIND,
  type AttentionIncident,
  type AttentionItem,
  type AttentionKind,
  type AttentionRequest,
} from './attention.js';
import { AttentionMarkEntity } from './attention-mark.entity.js';
import { MOST_OF_A_KIND, PARAMETERS, SOURCES } from './attention-kinds.sql.js';

const DAY_MS = 86_400_000;
/** Older items are not listed. */
export const LISTED_DAYS = 30;

const FOUND = ATTENTION_KINDS.map((kind) => {
  const {
    from,
    where,
    subject,
    name,
    reason,
    at,
    link,
    incident = 'null::uuid',
    order,
  } = SOURCES[kind];
  return `(
    select '${kind}' as kind, ${subject} as subject, ${name} as name, ${reason} as reason, ${at} as at,
           ${link} as link, ${incident} as incident_id
      from ${from}
     where '${kind}' = any(${PARAMETERS.kinds})
       and (${PARAMETERS.subject} is null or ${subject} = ${PARAMETERS.subject})
       and ${['true', ...where].join('\n       and ')}
       and not exists (
         select from attention_marks mark
          where mark.kind = '${kind}' and mark.subject = ${subject} and mark.at >= ${at})
     order by ${order} limit ${MOST_OF_A_KIND})`;
}).join('\n    union all ');

/** Items without an incident stop events or messages, so they rank like those of a high incident. */
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
    returning kind, subject, at, done_by, done_at, reason`,
};

interface ItemRow extends Omit<AttentionItem, 'incident'>, Omit<AttentionIncident, 'id'> {
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

  async list({ kinds, chosen = kinds, sort, page, perPage }: AttentionRequest): Promise<Attention> {
    const values = [...this.range(kinds), [...chosen], (page - 1) * perPage, perPage];
    const rows = await this.statements.rows<ListRow>(LISTS.get(sort)!, values);
    const counts = new Map(rows.map(({ counted, n }) => [counted, n]));
    return {
      total: kinds
        .filter((kind) => chosen.includes(kind))
        .reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0),
      counts: kinds.map((kind) => ({ kind, count: counts.get(kind) ?? 0 })),
      items: rows.filter((row) => row.kind !== null).map(itemOf),
    };
  }

  /** Returns `undefined` if the item does not exist, for example because it is fixed. */
  async mark(
    tx: Tx,
    { kind, subject }: Pick<AttentionItem, 'kind' | 'subject'>,
    { by, reason }: { readonly by: string; readonly reason: string },
  ): Promise<AttentionMarkEntity | undefined> {
    const values = [...this.range([kind], subject), by, reason];
    const [mark] = await this.statements.rowsIn<AttentionMarkEntity>(tx, MARK, values);
    return mark;
  }

  private range(kinds: readonly AttentionKind[], subject?: string): unknown[] {
    const since = this.clock.now().getTime() - LISTED_DAYS * DAY_MS;
    return [[...kinds], subject ?? null, new Date(since), firstIdAt(since)];
  }
}

function itemOf(row: ItemRow): AttentionItem {
  const { kind, subject, name, reason, at, link } = row;
  return { kind, subject, name, reason, at, link, incident: incidentOf(row) };
}

function incidentOf(row: ItemRow): AttentionIncident | undefined {
  const { incident_id: id, incident_number, title, severity, status } = row;
  return id === null ? undefined : { id, incident_number, title, severity, status };
}
