// SQL: batched inserts, for which TypeORM would use one parameter per value.
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { DataSource, getMetadataArgsStorage, QueryRunnerAlreadyReleasedError } from 'typeorm';
import { presentSpan } from '../tracing/tracing.js';
import { poolOf } from './data-source.js';
import type { TracedQuery } from './connection.js';
import { beforeCommit, newRowsOf, type Tx } from './transactions.js';

/** Statement that runs often. Its name lets PostgreSQL parse and plan it once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

@Injectable()
export class Statements {
  constructor(private readonly dataSource: DataSource) {}

  async rows<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    const query: TracedQuery = { ...statement, values, span: presentSpan() };
    const result = await poolOf(this.dataSource).query<R>(query);
    return result.rows;
  }

  async rowsIn<R extends QueryResultRow>(
    tx: Tx | undefined,
    statement: Statement,
    values: unknown[] = [],
  ): Promise<R[]> {
    if (!tx) return await this.rows(statement, values);
    const runner = tx.queryRunner!;
    // The transaction has ended. Its connection may already serve another transaction.
    if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const connection = (await runner.connect()) as import('pg').PoolClient;
    const result = await connection.query<R>({ ...statement, values });
    return result.rows;
  }
}

interface Insert<Row> {
  readonly parameters: number;
  text(firstParameter: number): string;
  values(rows: readonly Row[]): unknown[];
}

/** Collects new rows. One statement inserts the rows of all tables right before the commit, so that locks are held briefly. */
export class RowsAtCommit<Row> {
  constructor(
    private readonly statements: Statements,
    private readonly name: string,
    private readonly insert: Insert<Row>,
  ) {}

  add(tx: Tx, rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const tables = newRowsOf<RowsAtCommit<never>>(tx);
    if (tables.size === 0) beforeCommit(tx, () => this.flush(tx));
    tables.set(this, [...(tables.get(this) ?? []), ...rows]);
  }

  async flush(tx: Tx): Promise<void> {
    const tables = [...newRowsOf<RowsAtCommit<never>>(tx)];
    if (tables.length === 0) return;
    newRowsOf(tx).clear();
    const values: unknown[] = [];
    const parts = tables.map(([{ name, insert }, rows]) => {
      const part = `${name} as (${insert.text(values.length + 1)})`;
      values.push(...insert.values(rows as never[]));
      return part;
    });
    const name = tables.map(([table]) => table.name).join(' ');
    const text = `with ${parts.join(', ')} select`;
    await this.statements.rowsIn(tx, { name, text }, values);
  }
}

/** Inserts any number of rows with one array parameter per column. Text stays unchanged, even if it is JSON. */
export class RowInsert<Row extends object, Name extends keyof Row & string> {
  private readonly table: string;
  private readonly types: readonly string[];

  constructor(
    entity: new () => Row,
    private readonly names: readonly Name[],
  ) {
    const { tables, columns } = getMetadataArgsStorage();
    this.table = tables.find(({ target }) => target === entity)!.name!;
    this.types = names.map((name) => {
      const declared = columns.find((one) => one.target === entity && one.propertyName === name);
      const { enumName, type } = declared!.options;
      return enumName ?? (type as string);
    });
  }

  get parameters(): number {
    return this.names.length;
  }

  /** Returns the text of a statement or a CTE. A condition appended to the text (` where …`) may use the columns. */
  text(firstParameter = 1): string {
    const arrays = this.types.map((type, index) => `$${firstParameter + index}::${type}[]`);
    const names = this.names.join(', ');
    return `insert into ${this.table} (${names}) select * from unnest(${arrays.join(', ')}) as added (${names})`;
  }

  values(rows: readonly Readonly<Partial<Record<Name, unknown>>>[]): unknown[] {
    return this.names.map((name) => rows.map((row) => parameterOf(row[name])));
  }
}

function parameterOf(value: unknown): unknown {
  if (value === undefined || value === null || Buffer.isBuffer(value)) return value;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
