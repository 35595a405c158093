// SQL: creation is the hot path (see incident-insert.sql.ts).
import { Injectable } from '@nestjs/common';
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
} from './incident-insert.sql.js';

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

/** The sequence numbers that the database gave to the incidents, by id. */
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
   * A transaction of its own in one round trip. Nothing is inserted unless the credentials of all callers are still
   * valid, and still give the roles that were required of them.
   */
  async insertAllFor(callers: readonly Principal[], insertion: Insertion): Promise<Numbers> {
    const values = [...incidentValues(insertion), ...credentialsStillValidValues(callers)];
    return numbersOf(await this.statements.rows<NumberRow>(INSERT_FOR, values));
  }
}

export interface NumberRow {
  readonly id: string;
  readonly number: string;
}

export function numbersOf(rows: readonly NumberRow[]): Numbers {
  return new Map(rows.map(({ id, number }) => [id, number]));
}
