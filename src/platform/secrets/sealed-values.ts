// SQL: the tables and columns are listed by other modules and belong to several entities.
import type { DataSource } from 'typeorm';
import type { SecretBox } from './secret-box.js';
import { UnreadableSecretError } from './secrets.errors.js';

/** A column with values sealed by SecretBox. src/app.schema.ts lists all of them. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly id: readonly string[];
  /** Condition for the rows with a sealed value. */
  readonly where: string;
  /** Context of the sealed value, built from the columns of `id`. */
  readonly context: (id: Readonly<Record<string, string>>) => string;
}

type Row = Readonly<Record<string, string>>;

const PAGE = 500;

/** All encrypted values of the database. */
export class SealedValues {
  constructor(
    private readonly dataSource: DataSource,
    private readonly columns: readonly SealedColumn[],
  ) {}

  /**
   * Reseals with the first key all values that another key sealed; returns their number. Each value has its own
   * statement, which skips a value that changed meanwhile, so the run may be killed and repeated while the service
   * works.
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
      `The secret of ${which} in ${column.table} was altered and cannot be decrypted. Set it again, then repeat this command.`,
      { cause: error },
    );
  }
}

function keyOf(column: string): string {
  return `split_part(${column}, '.', 2)`;
}
