// SQL: batched inserts, for which TypeORM would use one parameter per value.
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { DataSource, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { presentSpan } from '../tracing/tracing.js';
import { poolOf } from './data-source.js';
import type { TracedQuery } from './connection.js';
import type { Tx } from './transactions.js';

/** A statement of a hot path. Its name lets PostgreSQL parse and plan it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Runs named statements on the connections of TypeORM. */
@Injectable()
export class Statements {
  constructor(private readonly dataSource: DataSource) {}

  /** Runs a read, or a write that needs no transaction, on any free connection. */
  async rows<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    const query: TracedQuery = { ...statement, values, span: presentSpan() };
    const result = await poolOf(this.dataSource).query<R>(query);
    return result.rows;
  }

  /** Runs the statement in the given transaction. */
  async rowsIn<R extends QueryResultRow>(
    tx: Tx,
    statement: Statement,
    values: unknown[] = [],
  ): Promise<R[]> {
    if (!tx.queryRunner) throw new Error('A transaction has a query runner.');
    // The transaction has ended, and its connection may already serve another one.
    if (tx.queryRunner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const connection = (await tx.queryRunner.connect()) as import('pg').PoolClient;
    const result = await connection.query<R>({ ...statement, values });
    return result.rows;
  }
}

/** A column, and how its value is taken from a row. */
export interface InsertedColumn<Row> {
  readonly name: string;
  readonly type: string;
  readonly of: (row: Row) => string | Buffer | null;
}

export function namesOf<Row>(columns: readonly InsertedColumn<Row>[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * Text of an insert of any number of rows. Each column is one array parameter, numbered from `firstParameter`. The text
 * is a statement, or a CTE in the statement of the recorded change, which saves a round trip. A condition appended to
 * the text (` where …`) may use the columns.
 */
export function insertRows<Row>(
  table: string,
  columns: readonly InsertedColumn<Row>[],
  firstParameter: number,
): string {
  const arrays = columns.map(({ type }, index) => `$${firstParameter + index}::${type}[]`);
  const names = namesOf(columns);
  return `insert into ${table} (${names}) select * from unnest(${arrays.join(', ')}) as added (${names})`;
}

/** Parameter values for `insertRows`. */
export function valuesOfRows<Row>(
  columns: readonly InsertedColumn<Row>[],
  rows: readonly Row[],
): unknown[] {
  return columns.map(({ of }) => rows.map(of));
}
