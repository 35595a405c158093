import { Injectable } from '@nestjs/common';
import type { Tx } from '../platform/database/transactions.js';

/** What another module does when an incident is deleted, in the same transaction, such as rejecting its waiting actions. */
export type OnIncidentDeleted = (tx: Tx, incidentId: string) => Promise<void>;

/** Modules on floors above register in `onModuleInit`, because this module may not import them. */
@Injectable()
export class IncidentDeletion {
  private readonly participants: OnIncidentDeleted[] = [];

  register(participant: OnIncidentDeleted): void {
    this.participants.push(participant);
  }

  /** The incident is locked for update. Whoever claims or decides its actions locks it too, so that they wait or are first. */
  async run(tx: Tx, incidentId: string): Promise<void> {
    for (const participant of this.participants) await participant(tx, incidentId);
  }
}
