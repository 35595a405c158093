import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type EntityManager,
  type QueryRunner,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { ConnectionLostError, isLostRace } from './sqlstate.js';

declare const inTransaction: unique symbol;

/**
 * An entity manager inside a transaction. Every write takes one as its required first argument, and only Transactions
 * makes one, so a write outside a transaction does not compile.
 */
export type Tx = EntityManager & { readonly [inTransaction]: true };

/**
 * Takes part in a transaction beside the work itself. At the beginning it may refuse the work, as a caller does whose key
 * was revoked meanwhile. At the end it may add to what commits, such as the answer that is kept for an Idempotency-Key.
 */
export interface Participant<T = unknown> {
  begin?(tx: Tx): Promise<void>;
  finish?(tx: Tx, result: T): Promise<void>;
}

/** Whether it does anything at all: work in which nobody takes part may share its transaction with other work. */
export function takesPart<T>(participant: Participant<T>): boolean {
  return participant.begin !== undefined || participant.finish !== undefined;
}

const ATTEMPTS = 4;

/** Shared by all instances of Transactions: the reserved connections have an instance of their own. */
const actionsAfterCommit = new WeakMap<EntityManager, (() => void)[]>();

/** Calls `action` once the transaction has committed, and never when it rolls back. It must not throw. */
export function afterCommit(tx: Tx, action: () => void): void {
  actionsAfterCommit.get(tx)?.push(action);
}

@Injectable()
export class Transactions {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs `work` in one transaction, which commits when it returns. A transaction that lost a race (deadlock,
   * serialisation) is run again from its start, so `work` must do nothing that a rollback does not undo.
   */
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    ...participants: readonly Participant<NoInfer<T>>[]
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(work, participants);
      } catch (error) {
        if (attempt === ATTEMPTS || !isLostRace(error)) throw error;
      }
    }
  }

  /** Reads everything as it was at one moment, however long it takes. */
  async snapshot<T>(read: (manager: EntityManager) => Promise<T>): Promise<T> {
    return await this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query('set transaction read only');
      return await read(manager);
    });
  }

  private async attempt<T>(
    work: (tx: Tx) => Promise<T>,
    participants: readonly Participant<T>[],
  ): Promise<T> {
    const runner = this.dataSource.createQueryRunner();
    const tx = runner.manager as Tx;
    const actions: (() => void)[] = [];
    actionsAfterCommit.set(tx, actions);
    let result: T;
    try {
      await runner.startTransaction();
      for (const participant of participants) await participant.begin?.(tx);
      result = await work(tx);
      for (const participant of participants) await participant.finish?.(tx, result);
      await runner.commitTransaction();
    } catch (error) {
      // TypeORM gives a connection back by itself when it breaks, and then refuses the next statement.
      const isLost = runner.isReleased && isAlreadyReleased(error);
      await abandon(runner);
      throw isLost
        ? new ConnectionLostError('The connection broke in a transaction.', { cause: error })
        : error;
    }
    await runner.release();
    for (const action of actions) action();
    return result;
  }
}

function isAlreadyReleased(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}

/** A connection that broke closes itself (see ServiceClient in connection.ts), so that it never goes back to the pool. */
async function abandon(runner: QueryRunner): Promise<void> {
  try {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
  } catch {
    // The connection is gone, and the transaction with it; the caller gets the first error.
  } finally {
    await runner.release();
  }
}
