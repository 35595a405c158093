import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull } from 'typeorm';
import { AuditLog } from '../../audit/audit-log.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import { findOrder, type Page } from '../../platform/paging/page.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import { NameTakenError } from '../auth.errors.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { Principal } from '../principal.js';
import type { User } from '../users/user.entity.js';
import { UsersRepository } from '../users/users.repository.js';
import { type ApiKey, ApiKeyEntity, type CreatedKey, type NewApiKey } from './api-key.entity.js';
import type { ApiKeyInputDto, ApiKeyQueryDto } from './api-keys.dto.js';
import { createKey } from './key-format.js';

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

/** A join would read a page with two statements, one of which sorts all keys. */
const WITH_OWNER = { relations: { owner: true }, relationLoadStrategy: 'query' } as const;

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly audit: AuditLog,
    private readonly verification: CredentialVerification,
  ) {}

  async create(
    caller: Principal,
    { expires_in_days, ...wanted }: ApiKeyInputDto,
    idempotency: Participant<CreatedKey>,
  ): Promise<CreatedKey> {
    return await this.transactions.run<CreatedKey>(
      async (tx) => {
        await this.lockOwner(tx, caller);
        const { key, prefix, hash } = createKey();
        const row = await this.insertIfNew(tx, {
          ...wanted,
          id: newId(),
          prefix,
          secret_hash: hash,
          created_by: caller.name,
          owner_id: caller.personId,
          expiresInDays: expires_in_days,
        });
        if (!row) throw new NameTakenError(wanted.name);
        const { id, name, role, expires_at, limit_class } = row;
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'api_key.created',
          subject: { type: 'api_key', id },
          details: { name, role, prefix, expires_at, limit_class },
        });
        return { ...row, key };
      },
      caller,
      idempotency,
    );
  }

  /** Returns `undefined` if the name or the prefix is or was in use. */
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

  async revoke(caller: Principal, id: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('API key');
    await this.transactions.run(async (tx) => {
      if ((await this.revokeWhere(tx, caller, { id })) === 0) throw new NotFoundError('API key');
    }, caller);
  }

  /** Revokes the keys that the user owns, directly or through other keys. Returns the number of revoked keys. */
  async revokeAllOf(tx: Tx, caller: Principal, owner: User): Promise<number> {
    const reason = `${owner.username} was deleted`;
    return await this.revokeWhere(tx, caller, { owner_id: owner.id }, { reason });
  }

  private async revokeWhere(
    tx: Tx,
    caller: Principal,
    where: FindOptionsWhere<ApiKeyEntity>,
    more: { readonly reason?: string } = {},
  ): Promise<number> {
    const result = await tx
      .createQueryBuilder()
      .update(ApiKeyEntity)
      .set({ revoked_at: () => 'now()' })
      .where({ ...where, revoked_at: IsNull() })
      .returning(['id', 'name', 'role', 'prefix'])
      .execute();
    const revoked = result.raw as Pick<ApiKeyEntity, 'id' | 'name' | 'role' | 'prefix'>[];
    const entries = revoked.map(({ id, ...details }) => {
      const subject = { type: 'api_key', id };
      const action = 'api_key.revoked' as const;
      return { actor: caller.name, action, subject, details: { ...details, ...more } };
    });
    await this.audit.record(tx, ...entries);
    afterCommit(tx, () => revoked.forEach(({ prefix }) => this.verification.forgetKey(prefix)));
    return revoked.length;
  }

  /**
   * Locks the owner, because the owner may be deleted concurrently. Either the deletion waits and then finds the new
   * key, or the caller waits here and then finds its credentials invalid.
   */
  private async lockOwner(tx: Tx, caller: Principal): Promise<void> {
    if (caller.personId === undefined) return;
    await this.users.lockAgainstDeletion(tx, caller.personId);
    await caller.begin(tx);
  }
}

function readable({ owner, ...key }: ApiKeyEntity): ApiKey {
  return { ...key, owner: owner?.username ?? null };
}
