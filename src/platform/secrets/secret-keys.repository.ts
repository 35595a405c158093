// SQL: `lockTable` locks a table that may have no row yet; TypeORM locks only rows.
import { Column, DataSource, Entity, In, IsNull, Not, PrimaryColumn } from 'typeorm';
import type { Tx } from '../database/transactions.js';

@Entity('secret_keys')
export class SecretKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_secret_keys' })
  readonly id: string;

  @Column({ type: 'bytea', nullable: true })
  readonly verifier: Buffer | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly known_since: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly retired_at: Date | null;
}

/** The keys that this database was used with, oldest first, including retired ones. */
export class SecretKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  async list(tx?: Tx): Promise<SecretKeyEntity[]> {
    const keys = (tx ?? this.dataSource.manager).getRepository(SecretKeyEntity);
    return await keys.find({ order: { known_since: 'ASC', id: 'ASC' } });
  }

  /** Ids of the other keys that the database still needs. */
  async listIdsBeside(id: string): Promise<string[]> {
    const keys = await this.dataSource.getRepository(SecretKeyEntity).find({
      select: { id: true },
      where: { id: Not(id), retired_at: IsNull() },
      order: { known_since: 'ASC', id: 'ASC' },
    });
    return keys.map((key) => key.id);
  }

  /** Serialises processes that start together: the first key of a new database is the key of all. */
  async lockTable(tx: Tx): Promise<void> {
    await tx.query('lock table secret_keys in exclusive mode');
  }

  /** Adds the keys that are not known yet. */
  async insertIfNew(
    tx: Tx,
    keys: readonly Pick<SecretKeyEntity, 'id' | 'verifier'>[],
  ): Promise<void> {
    if (keys.length === 0) return;
    const values = keys.map(({ id, verifier }) => ({ id, verifier }));
    await tx
      .createQueryBuilder()
      .insert()
      .into(SecretKeyEntity)
      .values(values)
      .orIgnore()
      .execute();
  }

  /** Marks the keys as retired: no process may start with one of them in front. */
  async retire(tx: Tx, ids: readonly string[]): Promise<void> {
    await tx.getRepository(SecretKeyEntity).update({ id: In(ids) }, { retired_at: () => 'now()' });
  }
}
