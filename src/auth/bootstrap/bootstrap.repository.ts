// SQL: an advisory lock, which TypeORM has no words for.
import { Injectable } from '@nestjs/common';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';

@Injectable()
export class BootstrapRepository {
  constructor(private readonly statements: Statements) {}

  /** Replicas that start together wait for each other here. The later ones find what the first one made. */
  async lock(tx: Tx): Promise<void> {
    const statement = {
      name: 'bootstrap_lock',
      text: `select pg_advisory_xact_lock(${AdvisoryLock.Bootstrap})`,
    };
    await this.statements.rowsIn(tx, statement);
  }
}
