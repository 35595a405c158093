// SQL: one statement looks at what nine modules keep, by the indexes of each, so that the counts and the items fit each other.
import { Injectable } from '@nestjs/common';
import { Clock } from '../platform/clock.js';
import { firstIdAt } from '../platform/ids.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { incidentNumber, type IncidentStatus, type Severity } from '../incidents/incident.js';
import { titleWithoutDetails } from '../incidents/title-rules.js';
import {
  type Attention,
  ATTENTION_KINDS,
  type AttentionIncident,
  type AttentionItem,
  type AttentionKind,
  type AttentionRequest,
} from './attention.js';
import { AttentionMarkEntity } from './attention-mark.entity.js';
import { MOST_OF_A_KIND, PARAMETERS, SOURCES } from './attention-kinds.sql.js';

const DAY_MS = 86_400_000;
/** What nobody has minded for that long is not listed any more. */
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
       and ${where.join('\n       and ')}
       and not exists (
         select from attention_marks mark
          where mark.kind = '${kind}' and mark.subject = ${subject} and mark.at >= ${at})
     order by ${order} limit ${MOST_OF_A_KIND})`;
}).join('\n    union all ');

const LIST: Statement = {
  name: 'attention_list',
  text: `
    with found as materialized (
      select item.*, i.number::text, i.created_at, i.incident_type, i.source, i.title, i.severity, i.status
        from (${FOUND}) as item
        left join incidents i on i.id = item.incident_id
       where i.deleted_at is null),
    counted as (select kind, count(*)::integer as n from found group by kind)
    select counted.kind as counted, counted.n, page.*
      from counted
      left join (
        select * from found where kind = any($5::text[]) order by severity desc nulls last, at desc, subject limit $6
      ) as page on page.kind = counted.kind
     order by page.severity desc nulls last, page.at desc, page.subject`,
};

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

interface ItemRow {
  readonly kind: AttentionKind;
  readonly subject: string;
  readonly name: string;
  readonly reason: string;
  readonly at: Date;
  readonly link: string;
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

  async list({ kinds, chosen = kinds, limit }: AttentionRequest): Promise<Attention> {
    const values = [...this.range(kinds), [...chosen], limit];
    const rows = await this.statements.rows<ListRow>(LIST, values);
    const counts = new Map(rows.map(({ counted, n }) => [counted, n]));
    return {
      counts: kinds.map((kind) => ({ kind, count: counts.get(kind) ?? 0 })),
      items: rows.filter((row) => row.kind !== null).map(itemOf),
    };
  }

  /** Nothing when there is no such item, such as one that is mended. */
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
  if (row.incident_id === null) return undefined;
  return {
    id: row.incident_id,
    incidentNumber: incidentNumber(row.number, row.created_at),
    title: row.title ?? titleWithoutDetails(row.incident_type, row.source),
    severity: row.severity,
    status: row.status,
  };
}
