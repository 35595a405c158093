// SQL: `lockTable` locks a table that may have no row yet; TypeORM locks only rows.
import { Injectable } from '@nestjs/common';
import { DataSource, In, IsNull, Not, Raw } from 'typeorm';
import type { Tx } from '../database/transactions.js';
import { SecretKeyEntity } from './secret-key.entity.js';

/** A process records its key every few seconds; after this time without a record the key is unused. */
const QUIET_SECONDS = 20;

/** A key that a process encrypts with. */
export type KeyInUse = Pick<SecretKeyEntity, 'id' | 'verifier'>;

/** The keys that this database was used with, oldest first, including retired ones. */
@Injectable()
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

  /** Returns one of these keys that a process encrypts with. */
  async findIdInUse(ids: readonly string[]): Promise<string | undefined> {
    const key = await this.dataSource.getRepository(SecretKeyEntity).findOne({
      select: { id: true },
      where: { id: In(ids), last_used_at: recently() },
    });
    return key?.id;
  }

  async listInUse(tx: Tx): Promise<KeyInUse[]> {
    return await tx.getRepository(SecretKeyEntity).find({
      select: { id: true, verifier: true },
      where: { retired_at: IsNull(), last_used_at: recently() },
    });
  }

  /** Serialises processes that start together: the first key of a new database is the key of all. */
  async lockTable(tx: Tx): Promise<void> {
    await tx.query('lock table secret_keys in exclusive mode');
  }

  /** Adds a key, or records that a known key is in use. */
  async recordInUse(tx: Tx, { id, verifier }: KeyInUse): Promise<void> {
    await tx
      .createQueryBuilder()
      .insert()
      .into(SecretKeyEntity)
      .values({ id, verifier, last_used_at: () => 'now()' })
      .orUpdate(['last_used_at'], ['id'])
      .execute();
  }

  /** Adds the keys that are not known yet. */
  async insertIfNew(tx: Tx, keys: readonly KeyInUse[]): Promise<void> {
    for (const { id, verifier } of keys) {
      await tx
        .createQueryBuilder()
        .insert()
        .into(SecretKeyEntity)
        .values({ id, verifier, last_used_at: () => 'now()' })
        .orIgnore()
        .execute();
    }
  }

  /** Records the use of a key. Returns whether the key is retired although this process uses it. */
  async recordUse(id: string): Promise<{ readonly retired: boolean }> {
    const result = await this.dataSource
      .createQueryBuilder()
      .update(SecretKeyEntity)
      .set({ last_used_at: () => 'now()' })
      .where({ id })
      .returning(['retired_at'])
      .execute();
    const [key] = result.raw as Pick<SecretKeyEntity, 'retired_at'>[];
    return { retired: key?.retired_at instanceof Date };
  }

  /** Marks the keys as retired: no process may start with one of them in front. */
  async retire(tx: Tx, ids: readonly string[]): Promise<void> {
    await tx.getRepository(SecretKeyEntity).update({ id: In(ids) }, { retired_at: () => 'now()' });
  }
}

/** Compares with the clock of the database, which wrote the time. */
function recently() {
  return Raw((column) => `${column} > now() - interval '${QUIET_SECONDS} seconds'`);
}
