import type { ClientBase } from 'pg';
import { readAppliedMigrations } from '../schema-checks.js';
import { MIGRATIONS_TABLE } from '../data-source.js';
import type { SequenceValue, Table } from './backup-format.js';

/** All relations of the service are in one schema and have the owner of the migrations table. */
const OURS = `
  c.relnamespace = current_schema()::regnamespace
    and c.relowner = (select relowner from pg_class where oid = to_regclass('${MIGRATIONS_TABLE}'))`;

/** The tables with their stored columns. Referenced tables come first. */
export async function listTables(client: ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table & { references: string[] }>(`
    select c.relname as name,
      array(select attname::text from pg_attribute
             where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
             order by attnum) as columns,
      array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
             where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as references
    from pg_class c where ${OURS} and c.relkind = 'r' and c.relname <> '${MIGRATIONS_TABLE}'
    order by c.relname`);
  const placed: Table[] = [];
  const waiting = new Map(rows.map((row) => [row.name, row]));
  const place = (name: string): void => {
    const row = waiting.get(name);
    if (!row) return;
    waiting.delete(name);
    row.references.forEach(place);
    placed.push({ name, columns: row.columns });
  };
  rows.forEach(({ name }) => place(name));
  return placed;
}

export async function appliedMigrations(client: ClientBase): Promise<string[]> {
  return await readAppliedMigrations(
    async <R>(statement: string) => (await client.query(statement)).rows as R[],
  );
}

export async function readSequences(client: ClientBase): Promise<SequenceValue[]> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c where ${OURS} and c.relkind = 'S' order by 1`,
  );
  const values: SequenceValue[] = [];
  for (const { name } of rows) {
    const found = await client.query<SequenceValue>(
      `select $1 as name, last_value::text, is_called from ${client.escapeIdentifier(name)}`,
      [name],
    );
    // The sequence of the migrations table is not part of a backup.
    if (!name.startsWith(MIGRATIONS_TABLE)) values.push(found.rows[0]!);
  }
  return values;
}

/** For each sequence the higher of two values, so that no number is used twice. */
export function laterOf(
  some: readonly SequenceValue[],
  others: readonly SequenceValue[],
): SequenceValue[] {
  const nextOf = (one: SequenceValue) => BigInt(one.last_value) + (one.is_called ? 1n : 0n);
  return some.map((one) => {
    const other = others.find(({ name }) => name === one.name);
    return other && nextOf(other) > nextOf(one) ? other : one;
  });
}

export function copyTarget(client: ClientBase, { name, columns }: Table): string {
  return `${client.escapeIdentifier(name)} (${columns.map((column) => client.escapeIdentifier(column)).join(', ')})`;
}
