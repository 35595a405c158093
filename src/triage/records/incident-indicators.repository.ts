// SQL: a run finds many indicators, and those of all runs that end together are one statement.
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { DataSource, Entity, ForeignKey, Not, PrimaryColumn } from 'typeorm';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';

/** That a run found an indicator in an incident. */
@Entity('incident_indicators')
export class IncidentIndicatorEntity {
  /** A hash of the indicator's type and value: of one length, however long the value is. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'pk_incident_indicators' })
  readonly key: Buffer;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_indicators' })
  @ForeignKey('incidents', { name: 'fk_incident_indicators_incident' })
  readonly incident_id: string;
}

type Named = Pick<ExtractedIndicator, 'type' | 'value'>;

const KEY_BYTES = 16;

/** In one order, so that two runs that find the same do not wait for each other in a circle. */
const ADD: Statement = {
  name: 'incident_indicators_add',
  text: `
    insert into incident_indicators (key, incident_id)
    select decode(key, 'hex'), incident_id from unnest($1::text[], $2::uuid[]) as found (key, incident_id)
     order by key, incident_id
        on conflict do nothing`,
};

/** What runs found in which incident. It knows the incidents that were triaged by a run, and no others. */
@Injectable()
export class IncidentIndicatorsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  async add(
    tx: Tx,
    found: readonly { readonly incident_id: string; readonly indicators: readonly Named[] }[],
  ): Promise<void> {
    const rows = found.flatMap(({ incident_id, indicators }) => {
      const keys = new Set(indicators.map((one) => keyOf(one).toString('hex')));
      return [...keys].map((key) => ({ incident_id, key }));
    });
    if (rows.length === 0) return;
    const ids = rows.map(({ incident_id }) => incident_id);
    await this.statements.rowsIn(tx, ADD, [rows.map(({ key }) => key), ids]);
  }

  /** The ids of the newest other incidents with the indicator: a range of the primary key, however many incidents there are. */
  async sharing(incidentId: string, indicator: Named, most: number): Promise<string[]> {
    const rows = await this.dataSource.getRepository(IncidentIndicatorEntity).find({
      where: { key: keyOf(indicator), incident_id: Not(incidentId) },
      order: { incident_id: 'DESC' },
      take: most,
    });
    return rows.map(({ incident_id }) => incident_id);
  }
}

function keyOf({ type, value }: Named): Buffer {
  return createHash('sha256').update(`${type}\0${value}`).digest().subarray(0, KEY_BYTES);
}
