import { type ColumnType, type ValueTransformer, Column, getMetadataArgsStorage } from 'typeorm';

/** PostgreSQL types that TypeORM does not know. The code handles their values as text. See createDataSource. */
export const XID8 = 'xid8' as string as ColumnType;
export const PG_SNAPSHOT = 'pg_snapshot' as string as ColumnType;

export const AS_BIGINT: ValueTransformer = {
  from: (text: string) => BigInt(text),
  to: (value: bigint) => String(value),
};

/** Times of creation, change and deletion. The row of a deleted object stays, because other rows refer to it. */
export abstract class RowTimes {
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}

export function columnsOf<Row, Hidden extends keyof Row & string>(
  entity: new () => Row,
  hidden: readonly Hidden[],
) {
  const declared = getMetadataArgsStorage().columns.filter(({ target }) => target === entity);
  const omitted: readonly string[] = hidden;
  const names = declared.map(({ propertyName }) => propertyName);
  return names.filter((name) => !omitted.includes(name)) as Exclude<keyof Row & string, Hidden>[];
}
