// SQL: what pg-boss asks for goes to the database as it is.
import type { PoolClient, PoolConfig, QueryResult, QueryResultRow } from 'pg';
import type { Db } from 'pg-boss';
import { createHash } from 'node:crypto';
import { ServicePool } from '../../database/service-pool.js';
import type { Tx } from '../../database/transactions.js';

/** Fetching, settling and supervising are short; requests have their own pool and never wait for these. */
const POOL_SIZE = 3;

/** The connections of the queue library, beside those that requests share. */
export class BossDatabase implements Db {
  private readonly pool: ServicePool;

  constructor(connection: PoolConfig) {
    this.pool = new ServicePool({
      ...connection,
      application_name: `${connection.application_name ?? 'jobs'}-jobs`,
      max: POOL_SIZE,
    });
    // An idle connection that breaks must not end the process: the next query opens another.
    this.pool.on('error', () => undefined);
  }

  /** The pool closes a connection whose query failed: some texts are whole transactions, and it may still be in one. */
  executeSql(text: string, values?: unknown[]): Promise<QueryResult<QueryResultRow>> {
    return this.pool.query(text, values);
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

const MOST_NAMED_STATEMENTS = 500;
const statementNames = new Map<string, string>();

/** Lets the library write inside the caller's transaction. Its texts recur, so PostgreSQL plans each only once. */
export function databaseIn(tx: Tx): Db {
  return {
    executeSql: async (text: string, values?: unknown[]) => {
      if (!tx.queryRunner) throw new Error('A transaction has a query runner.');
      const connection = (await tx.queryRunner.connect()) as PoolClient;
      const name = statementName(text);
      return name ? connection.query({ name, text, values }) : connection.query(text, values);
    },
  };
}

function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known || statementNames.size >= MOST_NAMED_STATEMENTS) return known;
  const name = `jobs-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
