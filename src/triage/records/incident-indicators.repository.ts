import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { DataSource, Not } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';
import { IncidentIndicatorEntity } from './incident-indicator.entity.js';

type Named = Pick<ExtractedIndicator, 'type' | 'value'>;

const KEY_BYTES = 16;

/** What runs found in which incident. It knows the incidents that were triaged by a run, and no others. */
@Injectable()
export class IncidentIndicatorsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** In one order, so that two runs that find the same do not wait for each other in a circle. */
  async add(tx: Tx, incidentId: string, indicators: readonly Named[]): Promise<void> {
    const keys = [...new Set(indicators.map((one) => keyOf(one).toString('hex')))].sort();
    if (keys.length === 0) return;
    await tx
      .createQueryBuilder()
      .insert()
      .into(IncidentIndicatorEntity)
      .values(keys.map((key) => ({ key: Buffer.from(key, 'hex'), incident_id: incidentId })))
      .orIgnore()
      .execute();
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
