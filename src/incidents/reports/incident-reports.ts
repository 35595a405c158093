// SQL: raw_data is read and written as text, so that numbers keep all digits.
import { Injectable } from '@nestjs/common';
import { OmitType } from '@nestjs/swagger';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { listStatement, readPage } from '../../platform/counting/counted-list.js';
import { newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { Choice, Id, Instant, JsonObject, Text } from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import { SEVERITIES, type Severity } from '../incident.js';
import { jsonWithRawData } from '../raw-data-rules.js';

/** Later event of the tool about an incident, with different content. Also defines the contract of its columns. */
@Entity('incident_reports')
export class IncidentReportEntity {
  @Id('IncidentReportId')
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;

  @Instant({ description: 'Time when the event was stored.' })
  @Column({ type: 'timestamptz', precision: 3 })
  readonly at: Date;

  @Text()
  @Column({ type: 'text' })
  readonly source: string;

  @Choice('Severity', SEVERITIES, {
    description: 'Severity of this event. The incident keeps the highest severity.',
  })
  @Column({ type: 'enum', enum: SEVERITIES, enumName: 'incident_severity' })
  readonly severity: Severity;

  @Id('WebhookEventId', {
    description: 'Webhook event that brought the report, with the original bytes.',
  })
  @Column({ type: 'uuid' })
  readonly webhook_event_id: string;

  @JsonObject({ description: 'The event exactly as received.' })
  @Column({ type: 'json' })
  readonly raw_data: string;
}

export class IncidentReportDto extends OmitType(IncidentReportEntity, ['incident_id']) {}

const withoutRawData = present(OmitType(IncidentReportDto, ['raw_data']));

export function reportList(
  { items, total }: Page<IncidentReportDto>,
  { page, per_page }: PageRequest,
): string {
  const data = items.map((row) => jsonWithRawData(withoutRawData(row), row.raw_data));
  return `{"data":[${data.join(',')}],"meta":${JSON.stringify({ page, per_page, total })}}`;
}

type NewIncidentReport = Omit<IncidentReportEntity, 'id' | 'at'>;

/** Maximum reports per incident. For older reports, the inbox keeps the received bytes. */
const MOST_REPORTS = 100;
/** Maximum total size of the reports of an incident, because one page may contain all of them. */
const MOST_BYTES = 8 * 1024 * 1024;

const INSERT: Statement = {
  name: 'incident_reports_insert',
  text: `
    with dropped as (
      delete from incident_reports where id in (
        select id from (
          select id, row_number() over newest as n, sum(octet_length(raw_data::text)) over newest as bytes
            from incident_reports where incident_id = $2 window newest as (order by id desc)) as kept
         where n >= ${MOST_REPORTS} or bytes + octet_length($7) > ${MOST_BYTES}))
    insert into incident_reports (id, incident_id, at, source, severity, webhook_event_id, raw_data)
    values ($1, $2, $3, $4, $5, $6, $7::text::json)`,
};

const PAGE: Statement = {
  name: 'incident_reports_page',
  text: listStatement({
    total: `(select count(*) from incident_reports where incident_id = $1)`,
    ids: `select id from incident_reports where incident_id = $1 order by id offset $2 limit $3`,
    columns: 'id, at, source, severity, webhook_event_id, raw_data::text as raw_data',
    table: 'incident_reports',
    order: 'item.id',
  }),
};

/** Maximum reports that a triage run reads besides the newest report: those with the highest severity. */
const MOST_WORSE = 3;
/** Maximum stored size of these reports together. The most severe report is always read, even if it is larger. */
const MOST_WORSE_BYTES = 64 * 1024;

const TO_JUDGE: Statement = {
  name: 'incident_reports_to_judge',
  text: `
    select incident.id as incident_id, report.id, report.at, report.severity, report.raw_data
      from unnest($1::uuid[]) as incident (id)
     cross join lateral (
       select id, at, severity, raw_data::text as raw_data from incident_reports
        where id in (
          select id from (
            select id, row_number() over worst as place, row_number() over newest as age,
                   sum(pg_column_size(raw_data)) over worst as bytes
              from incident_reports where incident_id = incident.id
            window worst as (order by severity desc, id desc), newest as (order by id desc)) as ranked
           where age = 1 or place = 1 or (place <= ${MOST_WORSE} and bytes <= ${MOST_WORSE_BYTES}))
        order by id desc) as report`,
};

export type JudgedReport = Pick<IncidentReportEntity, 'id' | 'at' | 'severity' | 'raw_data'>;
type JudgedRow = JudgedReport & Pick<IncidentReportEntity, 'incident_id'>;

@Injectable()
export class IncidentReports {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  /** Adds a report, and deletes the oldest reports beyond the limits. The caller has locked the incident for update. */
  async add(tx: Tx, report: NewIncidentReport): Promise<void> {
    const at = this.clock.now();
    const { incident_id, source, severity, webhook_event_id, raw_data } = report;
    await this.statements.rowsIn(tx, INSERT, [
      newId(at.getTime()),
      ...[incident_id, at.toISOString(), source, severity, webhook_event_id, raw_data],
    ]);
  }

  async page(
    incidentId: string,
    { page, per_page }: PageRequest,
  ): Promise<Page<IncidentReportDto>> {
    const values = [incidentId, (page - 1) * per_page, per_page];
    return await readPage(this.statements, { statement: PAGE, values });
  }

  /** Returns reports by incident: first the newest report, then the most severe earlier reports. */
  async toJudge(
    incidentIds: readonly string[],
    tx?: Tx,
  ): Promise<ReadonlyMap<string, readonly JudgedReport[]>> {
    const rows = await this.statements.rowsIn<JudgedRow>(tx, TO_JUDGE, [incidentIds]);
    return Map.groupBy(rows, ({ incident_id }) => incident_id);
  }
}
