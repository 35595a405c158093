import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';

const BOOTSTRAP_LOCK = 7_203_442;

@Injectable()
export class BootstrapRepository {
  constructor(private readonly statements: Statements) {}

  /** Replicas that start together take turns; the later ones find what the first one made. */
  async lock(tx: Tx): Promise<void> {
    const statement = { name: 'bootstrap_lock', text: `select pg_advisory_xact_lock($1)` };
    await this.statements.rowsIn(tx, statement, [BOOTSTRAP_LOCK]);
  }
}
