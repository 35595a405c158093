// SQL: raw_data is read and written as text, so that no digit of its numbers is lost.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { newId } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import type { IncidentReportEntity } from './incident-report.entity.js';

/** A later event about an incident. `raw_data` is the JSON text of the event, exactly as it came. */
export type IncidentReport = Omit<IncidentReportEntity, 'raw_data'> & { readonly raw_data: string };

export type NewIncidentReport = Omit<IncidentReport, 'id' | 'at'>;

/** Reports kept per incident. The inbox keeps the bytes of all others. */
const MOST_REPORTS = 100;
/** Of all of them together: one page may hold them all. */
const MOST_BYTES = 8 * 1024 * 1024;

const COLUMNS =
  'id, incident_id, at, source, severity, webhook_event_id, raw_data::text as raw_data';

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
  text: `select ${COLUMNS} from incident_reports where incident_id = $1 order by id offset $2 limit $3`,
};

const COUNT: Statement = {
  name: 'incident_reports_count',
  text: `select count(*)::int as total from incident_reports where incident_id = $1`,
};

const LATEST: Statement = {
  name: 'incident_reports_latest',
  text: `select raw_data::text as raw_data from incident_reports where incident_id = $1 order by id desc limit 1`,
};

/** What later events said about an incident, beside the first event in its `raw_data`. */
@Injectable()
export class IncidentReports {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  /** Drops the oldest report when there are too many. The caller has locked the incident for update. */
  async add(tx: Tx, report: NewIncidentReport): Promise<void> {
    const at = this.clock.now();
    const { incident_id, source, severity, webhook_event_id, raw_data } = report;
    await this.statements.rowsIn(tx, INSERT, [
      newId(at.getTime()),
      ...[incident_id, at.toISOString(), source, severity, webhook_event_id, raw_data],
    ]);
  }

  /** Oldest first. */
  async page(incidentId: string, { page, per_page }: PageRequest): Promise<Page<IncidentReport>> {
    const [items, counts] = await Promise.all([
      this.statements.rows<IncidentReport>(PAGE, [incidentId, (page - 1) * per_page, per_page]),
      this.statements.rows<{ total: number }>(COUNT, [incidentId]),
    ]);
    return { items, total: counts[0]!.total };
  }

  /** `raw_data` of the newest report as JSON text. */
  async latest(incidentId: string): Promise<string | undefined> {
    const [row] = await this.statements.rows<{ raw_data: string }>(LATEST, [incidentId]);
    return row?.raw_data;
  }

  /** The same in a transaction that has locked the incident. */
  async latestIn(tx: Tx, incidentId: string): Promise<string | undefined> {
    const [row] = await this.statements.rowsIn<{ raw_data: string }>(tx, LATEST, [incidentId]);
    return row?.raw_data;
  }
}
