import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../clock.js';
import type { Tx } from '../../database/transactions.js';
import { firstIdAt } from '../../ids.js';
import type { DomainEvent } from './domain-event.js';
import { ProcessedEventEntity } from './processed-event.entity.js';

/** Longer than a dead job is kept: after that nothing can bring the event again. */
const KEPT_DAYS = 15;
const DAY_MS = 86_400_000;
const PRUNED_AT_ONCE = 10_000;

/** Which handler has done its work for which event. */
@Injectable()
export class ProcessedEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /** True when the handler had not done its work for the event before. */
  async remember(tx: Tx, handler: string, event: DomainEvent): Promise<boolean> {
    const inserted = await tx
      .createQueryBuilder()
      .insert()
      .into(ProcessedEventEntity)
      .values({ event_id: event.id, handler })
      .orIgnore()
      .returning('event_id')
      .execute();
    return (inserted.raw as unknown[]).length > 0;
  }

  async prune(): Promise<void> {
    // Ids begin with the time (UUID version 7), so they need no column and no index for it.
    const before = firstIdAt(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    while ((await this.pruneSome(before)) === PRUNED_AT_ONCE);
  }

  private async pruneSome(before: string): Promise<number> {
    const events = this.dataSource.getRepository(ProcessedEventEntity);
    const old = events
      .createQueryBuilder('old')
      .select(['old.event_id', 'old.handler'])
      .where('old.event_id < :before')
      .orderBy('old.event_id')
      .limit(PRUNED_AT_ONCE);
    const { affected } = await events
      .createQueryBuilder()
      .delete()
      .where(`(event_id, handler) in (${old.getQuery()})`, { before })
      .execute();
    return affected ?? 0;
  }
}
