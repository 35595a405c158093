// SQL: the reads and changes in each request and action are hot paths.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { readPage } from '../platform/counting/counted-list.js';
import { Batcher } from '../platform/concurrency/batcher.js';
import {
  CHANGEABLE_COLUMNS,
  type Incident,
  INCIDENT_COLUMNS,
  INCIDENT_FEED_EVENTS,
  IncidentEntity,
  LISTED_COLUMNS,
  LOCKED_COLUMNS,
  STATE_COLUMNS,
  type IncidentState,
  type ListedIncident,
  type LockedIncident,
  sequenceIn,
} from './incident.js';
import { firstIdAt, isUuid } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { incidentList, type IncidentListRequest } from './incident-list.js';

const LISTED = LISTED_COLUMNS.join(', ');
const ALL = INCIDENT_COLUMNS.map((name) =>
  name === 'raw_data' ? 'raw_data::text as raw_data' : name,
).join(', ');

const LIST_AFTER: Statement = {
  name: 'incidents_list_after',
  text: `select ${LISTED} from incidents
          where deleted_at is null and id > $1 order by id limit $2`,
};

/** Builds a statement that reads and locks rows in the order of ids, which prevents deadlocks. */
const byIds = (name: string, columns: string, lock = ''): Statement => ({
  name: `incidents_${name}`,
  text: `select ${columns} from incidents where id = any($1::uuid[]) and deleted_at is null order by id ${lock}`,
});
const LISTED_OF = byIds('listed_of', LISTED);
const FIND_ALL = byIds('find_all', ALL);
const LOCK_FOR_UPDATE = byIds('lock_update', ALL, 'for no key update');
const LOCK_FOR_SHARE = byIds('lock_share', LOCKED_COLUMNS, 'for share');
const LOCK_FREE = byIds('lock_free', LOCKED_COLUMNS, 'for share skip locked');

const UPDATE: Statement = {
  name: 'incidents_update',
  text: `
    update incidents set (${CHANGEABLE_COLUMNS.join(', ')}) = (${CHANGEABLE_COLUMNS.map((name) => `changed.${name}`).join(', ')})
      from json_populate_recordset(null::incidents, $1::json) as changed
     where incidents.id = changed.id`,
};

const FIND_BY_NUMBER: Statement = {
  name: 'incidents_find_by_number',
  text: `select id from incidents where number = $1::bigint and incident_number = $2 and deleted_at is null`,
};

const STATES: Statement = {
  name: 'incidents_states',
  text: `select ${STATE_COLUMNS.join(', ')} from incidents where id = any($1::uuid[])`,
};

/** Maximum incidents per read. Small, because raw data may be large. */
const MOST_AT_ONCE = 32;

@Injectable()
export class Incidents {
  readonly type = 'incident';
  readonly events = INCIDENT_FEED_EVENTS;
  private readonly finds = new Batcher<string, Incident | undefined>(async (ids) => {
    const found = await this.findAll(ids);
    return ids.map((id) => found.get(id));
  }, MOST_AT_ONCE);

  constructor(private readonly statements: Statements) {}

  /** Throws NotFoundError if there is no such incident, and also if the id is malformed. */
  async get(id: string): Promise<Incident> {
    return requireFound(isUuid(id) ? await this.finds.submit(id.toLowerCase()) : undefined);
  }

  findAll(ids: readonly string[], tx?: Tx): Promise<ReadonlyMap<string, Incident>> {
    return this.byId(FIND_ALL, ids, tx);
  }

  async list(request: IncidentListRequest): Promise<Page<ListedIncident>> {
    return await readPage(this.statements, incidentList(request));
  }

  async listAfter(id: string | null, limit: number): Promise<ReadonlyMap<string, ListedIncident>> {
    const values = [id ?? firstIdAt(0), limit];
    return mapOf(await this.statements.rows<ListedIncident>(LIST_AFTER, values));
  }

  findBySubject(ids: readonly string[], tx?: Tx): Promise<ReadonlyMap<string, ListedIncident>> {
    return this.byId(LISTED_OF, ids, tx);
  }

  async lockForUpdate(tx: Tx, id: string): Promise<Incident | undefined> {
    return (await this.lockAllForUpdate(tx, [id].filter(isUuid))).get(id.toLowerCase());
  }

  async lockForShare(tx: Tx, id: string): Promise<LockedIncident | undefined> {
    return (await this.lockAllForShare(tx, [id].filter(isUuid))).get(id.toLowerCase());
  }

  lockAllForUpdate(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, Incident>> {
    return this.byId(LOCK_FOR_UPDATE, ids, tx);
  }

  lockAllForShare(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, LockedIncident>> {
    return this.byId(LOCK_FOR_SHARE, ids, tx);
  }

  /** Omits incidents that another transaction is changing. */
  lockFreeForShare(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, LockedIncident>> {
    return this.byId(LOCK_FREE, ids, tx);
  }

  async idOfNumber(number: string): Promise<string | undefined> {
    const values = [sequenceIn(number), number];
    const [row] = await this.statements.rows<{ readonly id: string }>(FIND_BY_NUMBER, values);
    return row?.id;
  }

  /** Also returns deleted incidents. */
  statesOf(tx: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, IncidentState>> {
    return this.byId(STATES, ids, tx);
  }

  async hide(tx: Tx, id: string, at: Date): Promise<void> {
    const incidents = tx.getRepository(IncidentEntity);
    await incidents.update({ id }, { deleted_at: at, version: () => 'version + 1' });
  }

  /** Updates incidents that the caller has locked for update. */
  async updateAll(tx: Tx, incidents: readonly Incident[]): Promise<void> {
    // Does not send raw data, because raw data never changes and may be large.
    const rows = incidents.map((incident) => ({ ...incident, raw_data: undefined }));
    await this.statements.rowsIn(tx, UPDATE, [JSON.stringify(rows)]);
  }

  private async byId<Row extends { readonly id: string }>(
    statement: Statement,
    ids: readonly string[],
    tx?: Tx,
  ): Promise<ReadonlyMap<string, Row>> {
    return mapOf(ids.length > 0 ? await this.statements.rowsIn<Row>(tx, statement, [ids]) : []);
  }
}

export function requireFound(incident: Incident | undefined): Incident {
  if (!incident) throw new NotFoundError('Incident');
  return incident;
}

function mapOf<Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
