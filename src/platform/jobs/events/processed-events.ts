import { Injectable } from '@nestjs/common';
import { Clock } from '../../clock.js';
import { Statements } from '../../database/statements.js';
import type { Tx } from '../../database/transactions.js';
import type { DomainEvent } from './domain-event.js';

/** Longer than a dead job is kept: after that nothing can bring the event again. */
const KEPT_DAYS = 15;
const DAY_MS = 86_400_000;
const PRUNED_AT_ONCE = 10_000;

const REMEMBER = {
  name: 'processed-events-remember',
  text: `
    insert into processed_events (event_id, handler) values ($1, $2)
    on conflict do nothing
    returning true as first`,
};

const PRUNE = {
  name: 'processed-events-prune',
  text: `
    delete from processed_events
     where (event_id, handler) in (
       select event_id, handler from processed_events where event_id < $1 order by event_id limit $2)
    returning true as pruned`,
};

/** Which handler has done its work for which event. */
@Injectable()
export class ProcessedEvents {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
  ) {}

  async remember(tx: Tx, handler: string, event: DomainEvent): Promise<boolean> {
    return (await this.statements.rowsIn(tx, REMEMBER, [event.id, handler])).length > 0;
  }

  async prune(): Promise<void> {
    const before = earliestIdOf(this.clock.now().getTime() - KEPT_DAYS * DAY_MS);
    let pruned: unknown[];
    do {
      pruned = await this.statements.rows(PRUNE, [before, PRUNED_AT_ONCE]);
    } while (pruned.length === PRUNED_AT_ONCE);
  }
}

/** Ids begin with the time (UUID version 7), so they need no column and no index for it. */
function earliestIdOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
