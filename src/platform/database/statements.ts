import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { DataSource, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { presentSpan } from '../tracing/tracing.js';
import { poolOf } from './data-source.js';
import type { TracedQuery } from './traced-statements.js';
import type { Tx } from './transactions.js';

/** A statement of a hot path. It has a name, so that PostgreSQL parses and plans it once for each connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs named statements on the connections of TypeORM, which does not name the statements that it writes itself. */
@Injectable()
export class Statements {
  constructor(private readonly dataSource: DataSource) {}

  /** Runs a read, or a write that is a whole transaction by itself, on any free connection. */
  async rows<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    const query: TracedQuery = { ...statement, values, span: presentSpan() };
    const result = await poolOf(this.dataSource).query<R>(query);
    return result.rows;
  }

  /** Runs it inside the given transaction. */
  async rowsIn<R extends QueryResultRow>(
    tx: Tx,
    statement: Statement,
    values: unknown[] = [],
  ): Promise<R[]> {
    if (!tx.queryRunner) throw new Error('A transaction has a query runner.');
    // The transaction has ended, and its connection may serve another one by now.
    if (tx.queryRunner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const connection = (await tx.queryRunner.connect()) as import('pg').PoolClient;
    const result = await connection.query<R>({ ...statement, values });
    return result.rows;
  }
}
