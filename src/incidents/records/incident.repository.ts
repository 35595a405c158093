// SQL for the hot paths: creation (see incident.sql.ts), and reads of each request and action.
import { Injectable } from '@nestjs/common';
import { Any, In, IsNull } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import {
  credentialsStillValid,
  credentialsStillValidValues,
} from '../../auth/principals/credentials-still-valid.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import {
  INCIDENT_PARAMETERS,
  incidentValues,
  insertIncidents,
  type Insertion,
  LOCKED_COLUMNS,
  lockedIncidentOf,
} from './incident.sql.js';
import { pageOf, type WithTotal } from '../../platform/counting/counted-list.sql.js';
import { Batcher } from '../../platform/concurrency/batcher.js';
import { SetOf } from '../../platform/concurrency/joint-transactions.js';
import {
  CHANGEABLE_COLUMNS,
  type Incident,
  INCIDENT_COLUMNS,
  INCIDENT_FIELDS_OF_ROW,
  IncidentEntity,
  LISTED_COLUMNS,
  LISTED_FIELDS,
  SUMMARY_COLUMNS,
  SUMMARY_FIELDS,
  type IncidentState,
  type IncidentSummary,
  type ListedIncident,
  type LockedIncident,
  incidentNumber,
  sequenceIn,
  type IncidentListRequest,
} from '../incident.js';
import { fieldsOfRawData } from '../incident-fields.js';
import { titleWithoutDetails } from '../titles.js';
import { firstIdAt } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import { listQuery } from '../listing/incident-list.sql.js';
import { columnValuesOf, fieldsOf } from '../../platform/database/columns.js';

const NUMBERS = `select id, number from incident`;

const INSERT: Statement = {
  name: 'incidents_insert',
  text: `with ${insertIncidents(1)} ${NUMBERS}`,
};

const INSERT_FOR: Statement = {
  name: 'incidents_insert_for',
  text: `
    with callers as materialized (select ${credentialsStillValid(1 + INCIDENT_PARAMETERS)} as valid),
    ${insertIncidents(1, () => 'where (select valid from callers)')}
    ${NUMBERS}`,
};

/** Sequence numbers of new incidents by id. */
export type Numbers = ReadonlyMap<string, string>;

@Injectable()
export class IncidentInsertRepository {
  constructor(private readonly statements: Statements) {}

  async insertAll(tx: Tx, insertion: Insertion): Promise<Numbers> {
    return numbersOf(
      await this.statements.rowsIn<NumberRow>(tx, INSERT, incidentValues(insertion)),
    );
  }

  /**
   * Its own transaction in one round trip. Inserts nothing unless the credentials of all callers are valid and give the
   * required roles.
   */
  async insertAllFor(callers: readonly Principal[], insertion: Insertion): Promise<Numbers> {
    const values = [...incidentValues(insertion), ...credentialsStillValidValues(callers)];
    return numbersOf(await this.statements.rows<NumberRow>(INSERT_FOR, values));
  }
}

interface NumberRow {
  readonly id: string;
  readonly number: string;
}

export function numbersOf(rows: readonly NumberRow[]): Numbers {
  return new Map(rows.map(({ id, number }) => [id, number]));
}

type ListedRow = Pick<IncidentEntity, (typeof LISTED_COLUMNS)[number]>;
type SummaryRow = Pick<IncidentEntity, (typeof SUMMARY_COLUMNS)[number]>;

/** raw_data is read as text and passed on unchanged, digit by digit. */
type IncidentRow = Pick<IncidentEntity, Exclude<(typeof INCIDENT_COLUMNS)[number], 'raw_data'>> & {
  readonly raw_data: string;
};

const LISTED = LISTED_COLUMNS.join(', ');
const SUMMARY_SELECTION = Object.fromEntries(SUMMARY_COLUMNS.map((name) => [name, true]));
const ALL = INCIDENT_COLUMNS.map((name) =>
  name === 'raw_data' ? 'raw_data::text as raw_data' : name,
).join(', ');

const LIST_AFTER: Statement = {
  name: 'incidents_list_after',
  text: `select ${LISTED} from incidents
          where deleted_at is null and id > $1 order by id limit $2`,
};

const LISTED_OF: Statement = {
  name: 'incidents_listed_of',
  text: `select ${LISTED} from incidents where id = any($1::uuid[]) and deleted_at is null`,
};

/** Rows are locked in the order of ids, which prevents deadlocks. */
const BY_IDS = `from incidents where id = any($1::uuid[]) and deleted_at is null order by id`;

const FIND_ALL: Statement = {
  name: 'incidents_find_all',
  text: `select ${ALL} from incidents where id = any($1::uuid[]) and deleted_at is null`,
};

const LOCK_FOR_UPDATE: Statement = {
  name: 'incidents_lock_update',
  text: `select ${ALL} ${BY_IDS} for no key update`,
};

const LOCK_FOR_SHARE: Statement = {
  name: 'incidents_lock_share',
  text: `select ${LOCKED_COLUMNS} ${BY_IDS} for share`,
};

const UPDATE: Statement = {
  name: 'incidents_update',
  text: `
    update incidents set (${CHANGEABLE_COLUMNS.join(', ')}) = (${CHANGEABLE_COLUMNS.map((name) => `changed.${name}`).join(', ')})
      from json_populate_recordset(null::incidents, $1::json) as changed
     where incidents.id = changed.id`,
};

/** Small, because raw data may be large. */
const MOST_AT_ONCE = 32;

/** Does not find deleted incidents. */
const FIND_BY_NUMBER: Statement = {
  name: 'incidents_find_by_number',
  text: `select id, number::text, created_at from incidents where number = $1::bigint and deleted_at is null`,
};
type NumberedRow = Pick<IncidentEntity, 'id' | 'number' | 'created_at'>;

@Injectable()
export class IncidentRepository {
  /** Batches concurrent reads into one statement, which starts after all of them: see Batcher. */
  private readonly finds = new Batcher<string, Incident | undefined>(
    (ids) => this.findAll(ids),
    MOST_AT_ONCE,
  );

  private readonly locksForUpdate = new SetOf<string, Incident | undefined>((tx, ids) =>
    this.locked(tx, LOCK_FOR_UPDATE, ids, incidentOf),
  );
  private readonly locksForShare = new SetOf<string, LockedIncident | undefined>((tx, ids) =>
    this.locked(tx, LOCK_FOR_SHARE, ids, lockedIncidentOf),
  );
  private readonly updates = new SetOf<Incident, void>((tx, all) => this.updateAll(tx, all));

  constructor(private readonly statements: Statements) {}

  async findById(id: string): Promise<Incident | undefined> {
    return await this.finds.submit(id.toLowerCase());
  }

  async list(request: IncidentListRequest): Promise<Page<ListedIncident>> {
    const { statement, values } = listQuery(request);
    const rows = await this.statements.rows<ListedRow & WithTotal>(statement, [...values]);
    return pageOf(rows, listedOf);
  }

  /** Incidents after the given id, oldest first. */
  async listAfter(id: string | null, limit: number): Promise<ListedIncident[]> {
    const rows = await this.statements.rows<ListedRow>(LIST_AFTER, [id ?? firstIdAt(0), limit]);
    return rows.map(listedOf);
  }

  /** By id, without deleted incidents. */
  async listedOf(ids: readonly string[]): Promise<ReadonlyMap<string, ListedIncident>> {
    const rows = await this.statements.rows<ListedRow>(LISTED_OF, [ids]);
    return new Map(rows.map((row) => [row.id, listedOf(row)]));
  }

  async lockForUpdate(tx: Tx, id: string): Promise<Incident | undefined> {
    return await this.locksForUpdate.submit(tx, id.toLowerCase());
  }

  async lockForShare(tx: Tx, id: string): Promise<LockedIncident | undefined> {
    return await this.locksForShare.submit(tx, id.toLowerCase());
  }

  /** Finds the incident by the sequence, then compares the whole number. */
  async idOfNumber(number: string): Promise<string | undefined> {
    const [row] = await this.statements.rows<NumberedRow>(FIND_BY_NUMBER, [sequenceIn(number)]);
    return row && incidentNumber(row.number, row.created_at) === number ? row.id : undefined;
  }

  /** By id, including deleted incidents. */
  async numbersOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await tx.getRepository(IncidentEntity).find({
      select: { id: true, number: true, created_at: true },
      where: { id: In([...ids]) },
    });
    return new Map(rows.map((row) => [row.id, incidentNumber(row.number, row.created_at)]));
  }

  /** By id, including deleted incidents. */
  async statesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, IncidentState>> {
    const rows = await tx.getRepository(IncidentEntity).find({
      select: {
        id: true,
        number: true,
        created_at: true,
        status: true,
        classification: true,
        deleted_at: true,
      },
      where: { id: Any([...new Set(ids)]) },
    });
    return new Map(
      rows.map(({ id, number, created_at, status, classification, deleted_at }) => [
        id,
        {
          incidentNumber: incidentNumber(number, created_at),
          status,
          classification: classification ?? undefined,
          isDeleted: deleted_at !== null,
        },
      ]),
    );
  }

  /** By id, without deleted incidents. */
  async summariesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, IncidentSummary>> {
    const rows = await tx.getRepository(IncidentEntity).find({
      select: SUMMARY_SELECTION,
      where: { id: Any([...ids]), deleted_at: IsNull() },
    });
    return new Map(rows.map((row) => [row.id, summaryOf(row)]));
  }

  /** The caller has locked the incident for update. */
  async update(tx: Tx, incident: Incident): Promise<void> {
    await this.updates.submit(tx, incident);
  }

  async hide(tx: Tx, id: string, at: Date): Promise<void> {
    const incidents = tx.getRepository(IncidentEntity);
    await incidents.update({ id }, { deleted_at: at, version: () => 'version + 1' });
  }

  private async locked<Row extends { readonly id: string }, T>(
    tx: Tx,
    statement: Statement,
    ids: readonly string[],
    from: (row: Row) => T,
  ): Promise<(T | undefined)[]> {
    const rows = await this.statements.rowsIn<Row>(tx, statement, [[...new Set(ids)]]);
    const found = new Map(rows.map((row) => [row.id, from(row)]));
    return ids.map((id) => found.get(id));
  }

  private async updateAll(tx: Tx, incidents: readonly Incident[]): Promise<void[]> {
    await this.statements.rowsIn(tx, UPDATE, [JSON.stringify(incidents.map(changedRow))]);
    return incidents.map(() => undefined);
  }

  private async findAll(ids: readonly string[]): Promise<(Incident | undefined)[]> {
    const rows = await this.statements.rows<IncidentRow>(FIND_ALL, [[...new Set(ids)]]);
    const incidents = new Map(rows.map((row) => [row.id, incidentOf(row)]));
    return ids.map((id) => incidents.get(id));
  }
}

function changedRow(incident: Incident) {
  return { id: incident.id, ...columnValuesOf(incident, CHANGEABLE_COLUMNS) };
}

function summaryOf(row: SummaryRow): IncidentSummary {
  return { ...fieldsOf(row, SUMMARY_FIELDS), ...shownOf(row) };
}

function listedOf(row: ListedRow): ListedIncident {
  return { ...fieldsOf(row, LISTED_FIELDS), ...shownOf(row) };
}

function incidentOf(row: IncidentRow): Incident {
  return {
    ...fieldsOf(row, INCIDENT_FIELDS_OF_ROW),
    ...shownOf(row),
    rawData: row.raw_data,
    fields: row.fields ?? fieldsOfRawData(JSON.parse(row.raw_data) as Record<string, unknown>),
    resolution: row.resolution || undefined,
  };
}

function shownOf(
  row: Pick<IncidentEntity, 'number' | 'title' | 'incident_type' | 'source' | 'created_at'>,
): Pick<IncidentSummary, 'incidentNumber' | 'title'> {
  return {
    incidentNumber: incidentNumber(row.number, row.created_at),
    title: row.title ?? titleWithoutDetails(row.incident_type, row.source),
  };
}
