import { Injectable } from '@nestjs/common';
import type { Tx } from '../platform/database/transactions.js';

/** What a module above does when an incident is deleted, in the same transaction: reject its waiting actions, say. */
export type OnIncidentDeleted = (tx: Tx, incidentId: string) => Promise<void>;

/** Modules register in `onModuleInit`, so that incidents need not know who depends on them. */
@Injectable()
export class IncidentDeletion {
  private readonly participants: OnIncidentDeleted[] = [];

  register(participant: OnIncidentDeleted): void {
    this.participants.push(participant);
  }

  /** The incident is locked: what claims or decides on its actions locks it, too, and comes before or after. */
  async run(tx: Tx, incidentId: string): Promise<void> {
    for (const participant of this.participants) await participant(tx, incidentId);
  }
}
