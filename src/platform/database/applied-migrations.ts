import { MIGRATIONS_TABLE, type Schema } from './data-source.js';

/** The rows that a statement answers, on whatever connection. */
type Ask = <R>(statement: string) => Promise<readonly R[]>;

/** By name, the first first; none where nothing was migrated yet. */
export async function readAppliedMigrations(ask: Ask): Promise<string[]> {
  const [found] = await ask<{ there: boolean }>(
    `select to_regclass('${MIGRATIONS_TABLE}') is not null as there`,
  );
  if (!found?.there) return [];
  const rows = await ask<{ name: string }>(`select name from ${MIGRATIONS_TABLE} order by id`);
  return rows.map(({ name }) => name);
}

/** The last of them that this release does not have: the database, or the backup, belongs to a newer one. */
export function lastUnknown(
  applied: readonly string[],
  { migrations }: Schema,
): string | undefined {
  const known = migrations.map((migration) => new migration().name);
  return applied.findLast((name) => !known.includes(name));
}
