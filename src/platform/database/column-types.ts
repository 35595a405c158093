import type { ColumnType, ValueTransformer } from 'typeorm';

/** Types of PostgreSQL that TypeORM does not list; the code has their values as text. See createDataSource. */
export const XID8 = 'xid8' as string as ColumnType;
export const PG_SNAPSHOT = 'pg_snapshot' as string as ColumnType;

/** For a column of type bigint that is never null: node-pg hands it out as text. */
export const AS_BIGINT: ValueTransformer = {
  from: (text: string) => BigInt(text),
  to: (value: bigint) => String(value),
};
