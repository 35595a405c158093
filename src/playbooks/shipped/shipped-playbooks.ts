import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SYSTEM } from '../../actions/action.js';
import { violatedConstraint } from '../../platform/database/sqlstate.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { PlaybookChanges } from '../playbooks.service.js';
import { PlaybooksRepository } from '../records/playbooks.repository.js';
import { MALWARE_CONTAINMENT } from './malware-containment.js';
import { PHISHING_RESPONSE } from './phishing-response.js';
import type { ShippedPlaybook } from '../playbook.js';
import { SUSPICIOUS_LOGIN } from './suspicious-login.js';

/** A new one is a file beside this one, a line here, and its part of docs/playbooks.md. */
export const SHIPPED_PLAYBOOKS: readonly ShippedPlaybook[] = [
  PHISHING_RESPONSE,
  MALWARE_CONTAINMENT,
  SUSPICIOUS_LOGIN,
];

/**
 * Creates the shipped playbooks where there has never been one. From then on they are the site's own: what was changed or
 * deleted stays so, whatever a later release ships.
 */
@Injectable()
export class ShippedPlaybooks implements OnApplicationBootstrap {
  constructor(
    private readonly transactions: Transactions,
    private readonly playbooks: PlaybooksRepository,
    private readonly changes: PlaybookChanges,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    try {
      await this.transactions.run((tx) => this.createAll(tx));
    } catch (error) {
      // Another replica was first.
      if (violatedConstraint(error) !== 'uq_playbooks_name') throw error;
    }
  }

  private async createAll(tx: Tx): Promise<void> {
    if (await this.playbooks.hasEverBeenOne(tx)) return;
    for (const { name, definition } of SHIPPED_PLAYBOOKS) {
      await this.changes.insert(tx, name, definition, SYSTEM);
    }
  }
}
