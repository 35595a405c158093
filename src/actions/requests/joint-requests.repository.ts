// SQL: requests are a hot path, and this is asked once for all that share a transaction.
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import {
  credentialsStillValid,
  credentialsStillValidValues,
} from '../../auth/principals/credentials-still-valid.js';
import type { LockedIncident } from '../../incidents/incident.js';
import {
  LOCKED_COLUMNS,
  lockedIncidentOf,
  type LockedRow,
} from '../../incidents/records/locked-incident.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';

/** An incident that somebody is changing is left out, so that one request waits for that, and not all of them. */
const ENTER: Statement = {
  name: 'actions_enter_together',
  text: `
    with incident as materialized (
      select ${LOCKED_COLUMNS} from incidents
       where id = any($1::uuid[]) and deleted_at is null order by id for share skip locked)
    select caller.valid, incident.*
      from (select ${credentialsStillValid(2)} as valid) as caller left join incident on true`,
};

type EnteredRow = { readonly valid: boolean } & (LockedRow | { readonly id: null });

/** The locked incidents by their ids. */
export type LockedIncidents = ReadonlyMap<string, LockedIncident>;

/** What the transaction of many requests begins with. */
@Injectable()
export class JointRequestsRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * Locks those of the incidents that are there, and that nobody is changing, until the transaction ends. Undefined when the
   * credential of one of the callers is not valid any more.
   */
  async enter(
    tx: Tx,
    callers: readonly Principal[],
    incidentIds: readonly string[],
  ): Promise<LockedIncidents | undefined> {
    const rows = await this.statements.rowsIn<EnteredRow>(tx, ENTER, [
      incidentIds,
      ...credentialsStillValidValues(callers),
    ]);
    if (!rows.every(({ valid }) => valid)) return undefined;
    return new Map(
      rows.flatMap((row) => (row.id === null ? [] : [[row.id, lockedIncidentOf(row)]])),
    );
  }
}
