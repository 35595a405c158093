import { Injectable } from '@nestjs/common';
import type { Tx } from '../platform/database/transactions.js';

/** What another module does when an incident ends, in the same transaction, such as rejecting its waiting actions. */
export interface EndingParticipant {
  readonly onDeleted: (tx: Tx, incidentId: string) => Promise<void>;
  /** What waits of an incident that is closed, by its name in the answer. */
  readonly pending?: {
    readonly name: 'actions' | 'runs';
    /** How many wait for a person. */
    readonly count?: (tx: Tx, incidentId: string) => Promise<number>;
    /** Returns how many there were. */
    readonly withdraw: (tx: Tx, incidentId: string, by: string, reason: string) => Promise<number>;
  };
}

export type Withdrawn = Readonly<Partial<Record<'actions' | 'runs', number>>>;

/**
 * Modules on floors above register in `onModuleInit`, because this module may not import them. The incident is locked for
 * update. Whoever claims or decides its actions locks it too, so that they wait or are first.
 */
@Injectable()
export class IncidentEndings {
  private readonly participants: EndingParticipant[] = [];

  register(participant: EndingParticipant): void {
    this.participants.push(participant);
  }

  async delete(tx: Tx, incidentId: string): Promise<void> {
    for (const { onDeleted } of this.participants) await onDeleted(tx, incidentId);
  }

  async countPendingActions(tx: Tx, incidentId: string): Promise<number> {
    const actions = this.participants.find(({ pending }) => pending?.name === 'actions');
    return (await actions?.pending?.count?.(tx, incidentId)) ?? 0;
  }

  /** In the order in which they registered: actions are rejected before the runs that wait for them are cancelled. */
  async withdraw(tx: Tx, incidentId: string, by: string, reason: string): Promise<Withdrawn> {
    const counts: [string, number][] = [];
    for (const { pending } of this.participants) {
      if (!pending) continue;
      counts.push([pending.name, await pending.withdraw(tx, incidentId, by, reason)]);
    }
    return Object.fromEntries(counts);
  }
}
