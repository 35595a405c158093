// SQL for reads: each request for an incident or a list, and each action, pays for one. Changes are TypeORM's.
import { Injectable } from '@nestjs/common';
import { Any, In, IsNull } from 'typeorm';
import { pageOf, type WithTotal } from '../../platform/counting/counted-list.sql.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import {
  type Incident,
  type IncidentSummary,
  type ListedIncident,
  type LockedIncident,
  incidentNumber,
} from '../incident.js';
import { fieldsOfRawData } from '../incident-fields.js';
import { titleWithoutDetails } from '../title-rules.js';
import type { Page } from '../../platform/paging/page.js';
import type { IncidentListRequest } from '../listing/incident-list.js';
import { listQuery } from '../listing/incident-list.sql.js';
import { IncidentEntity } from './incident.entity.js';
import { LOCKED_COLUMNS, lockedIncidentOf, type LockedRow } from './locked-incident.js';

type SummaryRow = Pick<
  IncidentEntity,
  | 'id'
  | 'number'
  | 'incident_type'
  | 'severity'
  | 'status'
  | 'source'
  | 'title'
  | 'created_at'
  | 'updated_at'
>;

type ListedRow = SummaryRow &
  Pick<IncidentEntity, 'classification' | 'resolved_at' | 'resolved_by'>;

/** raw_data comes as text: it is passed on digit by digit, and nobody needs to parse it. */
type IncidentRow = Omit<IncidentEntity, 'raw_data' | 'classification'> & {
  readonly raw_data: string;
};

const COLUMNS = `id, number, incident_type, severity, status, source, title, created_at, updated_at,
  raw_data::text as raw_data, fields, verdict, verdict_by_person, recommended_actions, resolution, version, triaged_at,
  resolved_at, resolved_by`;

const BY_ID = `from incidents where id = $1 and deleted_at is null`;

const FIND_ALL: Statement = {
  name: 'incidents_find_all',
  text: `select ${COLUMNS} from incidents where id = any($1::uuid[]) and deleted_at is null`,
};

const LOCK_FOR_UPDATE: Statement = {
  name: 'incidents_lock_update',
  text: `select ${COLUMNS} ${BY_ID} for no key update`,
};

const LOCK_FOR_SHARE: Statement = {
  name: 'incidents_lock_share',
  text: `select ${LOCKED_COLUMNS} ${BY_ID} for share`,
};

/** An incident may be as large as its raw data. */
const MOST_AT_ONCE = 32;

/** What deletion hid is not there, whoever asks. */
const FIND_BY_NUMBER: Statement = {
  name: 'incidents_find_by_number',
  text: `select id, number::text, created_at from incidents where number = $1::bigint and deleted_at is null`,
};
type NumberedRow = Pick<IncidentEntity, 'id' | 'number' | 'created_at'>;

@Injectable()
export class IncidentRepository {
  /** Reads that arrive together go out as one statement, which begins after all of them: see Batcher. */
  private readonly finds = new Batcher<string, Incident | undefined>(
    (ids) => this.findAll(ids),
    MOST_AT_ONCE,
  );

  constructor(private readonly statements: Statements) {}

  async findById(id: string): Promise<Incident | undefined> {
    return await this.finds.submit(id.toLowerCase());
  }

  async list(request: IncidentListRequest): Promise<Page<ListedIncident>> {
    const { statement, values } = listQuery(request);
    const rows = await this.statements.rows<ListedRow & WithTotal>(statement, [...values]);
    return pageOf(rows, listedOf);
  }

  async lockForUpdate(tx: Tx, id: string): Promise<Incident | undefined> {
    const [row] = await this.statements.rowsIn<IncidentRow>(tx, LOCK_FOR_UPDATE, [id]);
    return row && incidentOf(row);
  }

  async lockForShare(tx: Tx, id: string): Promise<LockedIncident | undefined> {
    const [row] = await this.statements.rowsIn<LockedRow>(tx, LOCK_FOR_SHARE, [id]);
    return row && lockedIncidentOf(row);
  }

  /** The sequence alone finds it; that the year and the zeros are right, too, the whole number tells. */
  async idOfNumber(number: string): Promise<string | undefined> {
    const sequence = number.slice(number.lastIndexOf('-') + 1);
    const [row] = await this.statements.rows<NumberedRow>(FIND_BY_NUMBER, [sequence]);
    return row && incidentNumber(row.number, row.created_at) === number ? row.id : undefined;
  }

  /** By their ids, those of deleted incidents, too. */
  async numbersOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await tx.getRepository(IncidentEntity).find({
      select: { id: true, number: true, created_at: true },
      where: { id: In([...ids]) },
    });
    return new Map(rows.map((row) => [row.id, incidentNumber(row.number, row.created_at)]));
  }

  /** By their ids, without those of deleted incidents. */
  async summariesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, IncidentSummary>> {
    const rows = await tx.getRepository(IncidentEntity).find({
      select: {
        id: true,
        number: true,
        incident_type: true,
        severity: true,
        status: true,
        source: true,
        title: true,
        created_at: true,
        updated_at: true,
      },
      where: { id: Any([...ids]), deleted_at: IsNull() },
    });
    return new Map(rows.map((row) => [row.id, summaryOf(row)]));
  }

  /** The caller has locked it for update. */
  async update(tx: Tx, incident: Incident): Promise<void> {
    await tx.getRepository(IncidentEntity).update(
      { id: incident.id },
      {
        incident_type: incident.incidentType,
        severity: incident.severity,
        status: incident.status,
        title: incident.title,
        fields: incident.fields,
        verdict: incident.verdict ?? null,
        verdict_by_person: incident.verdictByPerson,
        recommended_actions: incident.recommendedActions,
        resolution: incident.resolution ?? null,
        triaged_at: incident.triagedAt ?? null,
        resolved_at: incident.resolvedAt ?? null,
        resolved_by: incident.resolvedBy ?? null,
        updated_at: incident.updatedAt,
        version: incident.version,
      },
    );
  }

  async hide(tx: Tx, id: string, at: Date): Promise<void> {
    const incidents = tx.getRepository(IncidentEntity);
    await incidents.update({ id }, { deleted_at: at, version: () => 'version + 1' });
  }

  private async findAll(ids: readonly string[]): Promise<(Incident | undefined)[]> {
    const rows = await this.statements.rows<IncidentRow>(FIND_ALL, [[...new Set(ids)]]);
    const incidents = new Map(rows.map((row) => [row.id, incidentOf(row)]));
    return ids.map((id) => incidents.get(id));
  }
}

function summaryOf(row: SummaryRow): IncidentSummary {
  return {
    id: row.id,
    incidentNumber: incidentNumber(row.number, row.created_at),
    incidentType: row.incident_type,
    severity: row.severity,
    status: row.status,
    source: row.source,
    title: row.title ?? titleWithoutDetails(row.incident_type, row.source),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function listedOf(row: ListedRow): ListedIncident {
  return {
    ...summaryOf(row),
    classification: row.classification ?? undefined,
    resolvedAt: row.resolved_at ?? undefined,
    resolvedBy: row.resolved_by ?? undefined,
  };
}

function incidentOf(row: IncidentRow): Incident {
  return {
    ...summaryOf(row),
    rawData: row.raw_data,
    fields: row.fields ?? fieldsOfRawData(JSON.parse(row.raw_data) as Record<string, unknown>),
    verdict: row.verdict ?? undefined,
    verdictByPerson: row.verdict_by_person,
    recommendedActions: row.recommended_actions,
    // Releases before this one kept an empty one as it was given.
    resolution: row.resolution || undefined,
    version: row.version,
    triagedAt: row.triaged_at ?? undefined,
    resolvedAt: row.resolved_at ?? undefined,
    resolvedBy: row.resolved_by ?? undefined,
  };
}
