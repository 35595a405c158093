import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere, IsNull } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { isUuid, newId } from '../platform/ids.js';
import { findOrder, findPage, type Page } from '../platform/paging/page.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { ApiKeyEntity, type CreatedKey, type User, UserEntity } from './auth.entity.js';
import { NameTakenError } from './auth.errors.js';
import { createKey, Credentials, readKey } from './credentials.js';
import type { Principal } from './principal.js';
import type { ApiKeyInputDto, ApiKeyQueryDto } from './auth.dto.js';

const SORT_COLUMNS = { created_at: 'created_at', name: 'name' } as const;

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly credentials: Credentials,
  ) {}

  async create(
    caller: Principal,
    wanted: ApiKeyInputDto,
    idempotency: Participant<CreatedKey>,
  ): Promise<CreatedKey> {
    return await this.transactions.run<CreatedKey>(
      async (tx) => {
        await this.lockOwner(tx, caller);
        const created = await this.insertIfNew(tx, caller, wanted);
        if (!created) throw new NameTakenError(wanted.name);
        const { id, name, role, prefix, expires_at, limit_class } = created;
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'api_key.created',
          subject: { type: 'api_key', id },
          details: { name, role, prefix, expires_at, limit_class },
        });
        return created;
      },
      caller,
      idempotency,
    );
  }

  /** Returns `undefined` if the name or the prefix is or was in use. */
  async insertIfNew(
    tx: Tx,
    creator: Pick<Principal, 'name' | 'personId'>,
    { limits = {}, expires_in_days, ...columns }: ApiKeyInputDto,
    given?: string,
  ): Promise<CreatedKey | undefined> {
    const { key, prefix, hash } = (given && readKey(given)) || createKey();
    const id = newId();
    const inserted = await tx
      .createQueryBuilder()
      .insert()
      .into(ApiKeyEntity)
      .values({
        ...columns,
        id,
        prefix,
        secret_hash: hash,
        created_by: creator.name,
        owner_id: creator.personId,
        limits: Object.values(limits).some((limit) => limit !== undefined) ? limits : null,
        expires_at: () => 'now() + make_interval(days => cast(:days as int))',
      })
      .setParameter('days', expires_in_days ?? null)
      .orIgnore()
      .returning(['id'])
      .execute();
    if ((inserted.raw as object[]).length === 0) return undefined;
    return { ...(await tx.getRepository(ApiKeyEntity).findOneByOrFail({ id })), key };
  }

  async list({ created_by, ...query }: ApiKeyQueryDto): Promise<Page<ApiKeyEntity>> {
    const creator = created_by === undefined ? {} : { created_by };
    return await findPage(this.dataSource.getRepository(ApiKeyEntity), query, {
      where: { revoked_at: IsNull(), ...creator },
      order: findOrder(query.sort, SORT_COLUMNS, 'id'),
    });
  }

  async revoke(caller: Principal, id: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('API key');
    await this.transactions.run(async (tx) => {
      if ((await this.revokeWhere(tx, caller, { id })) === 0) throw new NotFoundError('API key');
    }, caller);
  }

  /** Returns the number of revoked keys. */
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
    afterCommit(tx, () => this.credentials.forget());
    return revoked.length;
  }

  /** Either a deletion of the owner waits and then finds the new key, or this waits and then finds invalid credentials. */
  private async lockOwner(tx: Tx, caller: Principal): Promise<void> {
    if (caller.personId === undefined) return;
    await tx.getRepository(UserEntity).findOne({
      select: { id: true },
      where: { id: caller.personId },
      lock: { mode: 'for_key_share' },
    });
    await caller.begin(tx);
  }
}
