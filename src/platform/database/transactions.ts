import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type EntityManager,
  QueryRunnerAlreadyReleasedError,
  QueryRunnerProviderAlreadyReleasedError,
} from 'typeorm';
import { ConnectionLostError, isConnectionLost, isLostRace } from './sqlstate.js';

declare const inTransaction: unique symbol;

/** Only Transactions creates a Tx and every write requires a Tx, so a write outside a transaction does not compile. */
export type Tx = EntityManager & { readonly [inTransaction]: true };

export interface Participant<T = unknown> {
  begin?(tx: Tx): Promise<void>;
  finish?(tx: Tx, result: T): Promise<void>;
}

/** True if the participant has work to do. Work without such participants may share its transaction. */
export function takesPart<T>(participant: Participant<T>): boolean {
  return participant.begin !== undefined || participant.finish !== undefined;
}

const ATTEMPTS = 4;

/** Functions to call at the end of each transaction. All instances of Transactions share them. */
const endings = new WeakMap<EntityManager, Ending>();

interface Ending {
  readonly newRows: Map<object, unknown[]>;
  readonly beforeCommit: (() => Promise<void>)[];
  readonly afterCommit: (() => void)[];
}

const newEnding = (): Ending => ({ newRows: new Map(), beforeCommit: [], afterCommit: [] });

/** Calls `action` after the commit, and never after a rollback. `action` must not throw. */
export function afterCommit(tx: Tx, action: () => void): void {
  endings.get(tx)?.afterCommit.push(action);
}

export function beforeCommit(tx: Tx, step: () => Promise<void>): void {
  endings.get(tx)!.beforeCommit.push(step);
}

/** Rows to insert right before the commit, by their table. A savepoint has its own. */
export function newRowsOf<Table extends object>(tx: Tx): Map<Table, unknown[]> {
  return endings.get(tx)!.newRows as Map<Table, unknown[]>;
}

/** If `work` fails, drops its changes and the functions that it registered for the end of the transaction. */
export async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const outer = endings.get(tx)!;
  const inner = newEnding();
  endings.set(tx, inner);
  await tx.query('savepoint inner_work');
  try {
    const result = await work();
    for (const step of inner.beforeCommit) await step();
    await tx.query('release savepoint inner_work');
    outer.afterCommit.push(...inner.afterCommit);
    return result;
  } catch (error) {
    if (!isConnectionLost(error)) await tx.query('rollback to savepoint inner_work');
    throw error;
  } finally {
    endings.set(tx, outer);
  }
}

@Injectable()
export class Transactions {
  constructor(private readonly dataSource: DataSource) {}

  /** Repeats `work` after a conflict with another transaction, so `work` may have effects only in `tx`. */
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    ...participants: readonly Participant<NoInfer<T>>[]
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(work, participants);
      } catch (error) {
        if (isReleased(error)) {
          throw new ConnectionLostError('The connection broke in a transaction.', { cause: error });
        }
        if (attempt === ATTEMPTS || !isLostRace(error)) throw error;
      }
    }
  }

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
    const ending = newEnding();
    const result = await this.dataSource.transaction(async (manager) => {
      const tx = manager as Tx;
      endings.set(tx, ending);
      for (const participant of participants) await participant.begin?.(tx);
      const result = await work(tx);
      for (const participant of participants) await participant.finish?.(tx, result);
      for (const step of ending.beforeCommit) await step();
      return result;
    });
    for (const action of ending.afterCommit) action();
    return result;
  }
}

/** TypeORM releases a broken connection, and then rejects the next statement of its transaction. */
function isReleased(error: unknown): boolean {
  return (
    error instanceof QueryRunnerAlreadyReleasedError ||
    error instanceof QueryRunnerProviderAlreadyReleasedError
  );
}
