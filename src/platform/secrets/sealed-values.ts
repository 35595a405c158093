// SQL: the tables and columns are listed by other modules and belong to several entities.
import type { DataSource } from 'typeorm';
import { type SecretBox, UnreadableSecretError } from './secret-box.js';

/** A column with values sealed by SecretBox. src/app.schema.ts lists all of them. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly id: readonly string[];
  readonly where: string;
  /** Context of the sealed value, built from the columns of `id`. */
  readonly context: (id: Readonly<Record<string, string>>) => string;
}

type Row = Readonly<Record<string, string>> & { readonly sealed: string };

/** Encrypts all values with the first key. Returns their number. Skips a value that changes meanwhile. */
export async function resealAll(
  dataSource: DataSource,
  columns: readonly SealedColumn[],
  box: SecretBox,
  firstKeyId: string,
): Promise<number> {
  let count = 0;
  for (const sealedColumn of columns) {
    const { table, column, id, where } = sealedColumn;
    const rows = await dataSource.query<Row[]>(
      `select ${id.join()}, ${column} as sealed from ${table}
        where ${where} and split_part(${column}, '.', 2) <> $1`,
      [firstKeyId],
    );
    const same = id.map((name, index) => `${name} = $${index + 3}`).join(' and ');
    for (const row of rows) {
      await dataSource.query(
        `update ${table} set ${column} = $1 where ${column} = $2 and ${same}`,
        [reseal(box, sealedColumn, row), row.sealed, ...id.map((name) => row[name])],
      );
    }
    count += rows.length;
  }
  return count;
}

function reseal(box: SecretBox, { table, id, context }: SealedColumn, row: Row): string {
  try {
    return box.seal(box.open(row.sealed, context(row)), context(row));
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    throw new Error(
      `The secret of ${id.map((name) => row[name]).join(' ')} in ${table} was altered and cannot be decrypted. Set it again, then repeat this command.`,
      { cause: error },
    );
  }
}
