import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import { findOrder, type Page } from '../../platform/paging/page.js';
import { type ApiKey, type NewApiKey, type RevokedApiKey, ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyQueryDto } from './api-keys.dto.js';

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

/** A join would read a page in two statements, of which one sorts all keys. */
const WITH_OWNER = { relations: { owner: true }, relationLoadStrategy: 'query' } as const;

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** `undefined` if the name or the prefix is in use, or was used before. */
  async insertIfNew(tx: Tx, key: NewApiKey): Promise<ApiKey | undefined> {
    const { limits = {}, expiresInDays, ...columns } = key;
    const result = await tx
      .createQueryBuilder()
      .insert()
      .into(ApiKeyEntity)
      .values({
        ...columns,
        limits: Object.values(limits).some((limit) => limit !== undefined) ? limits : null,
        expires_at: () => 'now() + make_interval(days => cast(:expiresInDays as int))',
      })
      .setParameter('expiresInDays', expiresInDays ?? null)
      .orIgnore()
      .returning(['id'])
      .execute();
    if ((result.raw as unknown[]).length === 0) return undefined;
    const found = { where: { id: key.id }, ...WITH_OWNER };
    return readable(await tx.getRepository(ApiKeyEntity).findOneOrFail(found));
  }

  async hasAny(tx: Tx): Promise<boolean> {
    return await tx.getRepository(ApiKeyEntity).exists();
  }

  async list({ page, per_page, sort, created_by }: ApiKeyQueryDto): Promise<Page<ApiKey>> {
    const creator = created_by === undefined ? {} : { created_by };
    const [items, total] = await this.dataSource.getRepository(ApiKeyEntity).findAndCount({
      where: { revoked_at: IsNull(), ...creator },
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      skip: (page - 1) * per_page,
      take: per_page,
      ...WITH_OWNER,
    });
    return { items: items.map(readable), total };
  }

  /** `undefined` if the key does not exist or is already revoked. */
  async revoke(tx: Tx, id: string): Promise<RevokedApiKey | undefined> {
    return (await revokeWhere(tx, { id }))[0];
  }

  async revokeAllOf(tx: Tx, ownerId: string): Promise<RevokedApiKey[]> {
    return await revokeWhere(tx, { owner_id: ownerId });
  }
}

function readable({ owner, ...key }: ApiKeyEntity): ApiKey {
  return { ...key, owner: owner?.username ?? null };
}

async function revokeWhere(
  tx: Tx,
  where: FindOptionsWhere<ApiKeyEntity>,
): Promise<RevokedApiKey[]> {
  const result = await tx
    .createQueryBuilder()
    .update(ApiKeyEntity)
    .set({ revoked_at: () => 'now()' })
    .where({ ...where, revoked_at: IsNull() })
    .returning(['id', 'name', 'role', 'prefix'])
    .execute();
  return result.raw as RevokedApiKey[];
}
