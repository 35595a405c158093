// SQL, because the tables and columns are those that other modules list, and not of one entity.
import type { DataSource } from 'typeorm';
import type { Tx } from '../database/transactions.js';
import type { SecretBox } from './secret-box.js';
import { UnreadableSecretError } from './secrets.errors.js';

/** A column whose values SecretBox sealed. Every such column is in the list of src/app.schema.ts. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly id: readonly string[];
  /** The condition for the rows in which the column is sealed. */
  readonly where: string;
  /** The context that the value was sealed with, made from the columns of `id`. */
  readonly context: (id: Readonly<Record<string, string>>) => string;
  /** The beginning of the statement that removes a value which nobody can read any more. */
  readonly discard: string;
}

type Row = Readonly<Record<string, string>>;

const PAGE = 500;

/** All encrypted values of the database, in whichever table they are. */
export class SealedValues {
  constructor(
    private readonly dataSource: DataSource,
    private readonly columns: readonly SealedColumn[],
  ) {}

  /**
   * Seals with the first key every value that another key sealed, and answers how many there were. Each value is a
   * statement of its own that changes nothing when somebody wrote a newer value meanwhile, so that the run may be killed
   * and started again while the service works.
   */
  async reseal(box: SecretBox, firstKeyId: string): Promise<number> {
    let count = 0;
    for (const column of this.columns) {
      for await (const row of this.rowsOfOthers(column, firstKeyId)) {
        await this.write(column, row, reseal(box, column, row));
        count += 1;
      }
    }
    return count;
  }

  /** Removes what the key sealed. Answers how many values that were, by table. */
  async discard(tx: Tx, keyId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { table, column, where, discard } of this.columns) {
      const [, count] = await tx.query<[unknown, number]>(
        `${discard} where ${where} and ${keyOf(column)} = $1`,
        [keyId],
      );
      counts[table] = (counts[table] ?? 0) + count;
    }
    return counts;
  }

  private async *rowsOfOthers(column: SealedColumn, keyId: string): AsyncGenerator<Row> {
    const ids = column.id.join(', ');
    let last: Row | undefined;
    do {
      const beyond: string = last
        ? `and (${ids}) > (${column.id.map((_, index) => `$${index + 2}`).join(', ')})`
        : '';
      const page: Row[] = await this.dataSource.query(
        `select ${ids}, ${column.column} as sealed from ${column.table}
         where ${column.where} and ${keyOf(column.column)} <> $1 ${beyond} order by ${ids} limit ${PAGE}`,
        [keyId, ...(last ? column.id.map((name) => last![name]) : [])],
      );
      yield* page;
      last = page.at(-1);
    } while (last);
  }

  private async write(
    { table, column, id }: SealedColumn,
    row: Row,
    sealed: string,
  ): Promise<void> {
    const same = id.map((name, index) => `${name} = $${index + 3}`).join(' and ');
    await this.dataSource.query(
      `update ${table} set ${column} = $1 where ${column} = $2 and ${same}`,
      [sealed, row['sealed'], ...id.map((name) => row[name])],
    );
  }
}

function reseal(box: SecretBox, column: SealedColumn, row: Row): string {
  try {
    return box.reseal(row['sealed']!, column.context(row));
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    const which = column.id.map((name) => row[name]).join(' ');
    throw new Error(
      `What ${column.table} keeps for ${which} was altered and does not open: set it anew, and run this again.`,
      { cause: error },
    );
  }
}

function keyOf(column: string): string {
  return `split_part(${column}, '.', 2)`;
}
