import { Injectable } from '@nestjs/common';
import type { Page } from '../../platform/paging/page.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import type { Incident, IncidentSummary, LockedIncident } from '../incident.js';
import {
  INCIDENT_COLUMNS,
  incidentOf,
  type IncidentRow,
  summaryOf,
  type SummaryRow,
} from './incident-rows.js';
import type { IncidentListRequest } from '../listing/incident-list.js';
import { listQuery } from '../listing/incident-list.sql.js';

const BY_ID = `from incidents where id = $1 and deleted_at is null`;

const FIND_ALL: Statement = {
  name: 'incidents_find_all',
  text: `select ${INCIDENT_COLUMNS} from incidents where id = any($1::uuid[]) and deleted_at is null`,
};

const LOCK_FOR_UPDATE: Statement = {
  name: 'incidents_lock_update',
  text: `select ${INCIDENT_COLUMNS} ${BY_ID} for no key update`,
};

const LOCK_FOR_SHARE: Statement = {
  name: 'incidents_lock_share',
  text: `select id, severity, status ${BY_ID} for share`,
};

/** An incident may be as large as its raw data. */
const MOST_AT_ONCE = 32;

interface ListRow extends SummaryRow {
  readonly total: string;
}

/** What deletion hid is not there, whoever asks. */
@Injectable()
export class IncidentRepository {
  /** Reads that arrive together go out as one statement, which begins after all of them: see WriteBatcher. */
  private readonly finds = new Batcher<string, Incident | undefined>(
    (ids) => this.findAll(ids),
    MOST_AT_ONCE,
  );

  constructor(private readonly statements: Statements) {}

  async findById(id: string): Promise<Incident | undefined> {
    return await this.finds.submit(id.toLowerCase());
  }

  async list(request: IncidentListRequest): Promise<Page<IncidentSummary>> {
    const { statement, values } = listQuery(request);
    const rows = await this.statements.rows<ListRow>(statement, [...values]);
    const [first] = rows;
    if (!first) throw new Error('The statement yields a row even for an empty page.');
    return {
      total: Number(first.total),
      // A page past the end is one row without an incident.
      items: (first.id as string | null) === null ? [] : rows.map(summaryOf),
    };
  }

  async lockForUpdate(tx: Tx, id: string): Promise<Incident | undefined> {
    const [row] = await this.statements.rowsIn<IncidentRow>(tx, LOCK_FOR_UPDATE, [id]);
    return row && incidentOf(row);
  }

  async lockForShare(tx: Tx, id: string): Promise<LockedIncident | undefined> {
    return (await this.statements.rowsIn<LockedIncident>(tx, LOCK_FOR_SHARE, [id]))[0];
  }

  private async findAll(ids: readonly string[]): Promise<(Incident | undefined)[]> {
    const rows = await this.statements.rows<IncidentRow>(FIND_ALL, [[...new Set(ids)]]);
    const incidents = new Map(rows.map((row) => [row.id, incidentOf(row)]));
    return ids.map((id) => incidents.get(id));
  }
}
