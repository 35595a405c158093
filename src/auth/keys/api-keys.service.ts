import { Injectable } from '@nestjs/common';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import type { Principal } from '../principal.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { User } from '../users/user.entity.js';
import { NameTakenError } from '../auth.errors.js';
import type { CreatedKey, ApiKey, RevokedApiKey } from './api-key.entity.js';
import type { ApiKeyInputDto, ApiKeyQueryDto } from './api-keys.dto.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { createKey } from './key-format.js';

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly transactions: Transactions,
    private readonly users: UsersRepository,
    private readonly keys: ApiKeysRepository,
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
        const row = await this.keys.insertIfNew(tx, {
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

  list(query: ApiKeyQueryDto): Promise<Page<ApiKey>> {
    return this.keys.list(query);
  }

  async revoke(caller: Principal, id: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('API key');
    await this.transactions.run(async (tx) => {
      const revoked = await this.keys.revoke(tx, id);
      if (!revoked) throw new NotFoundError('API key');
      await this.audit.record(tx, revocationOf(revoked, caller));
      afterCommit(tx, () => this.verification.forgetKey(revoked.prefix));
    }, caller);
  }

  /** Revokes the keys that the user owns, directly or through other keys. Returns how many. */
  async revokeAllOf(tx: Tx, caller: Principal, owner: User): Promise<number> {
    const revoked = await this.keys.revokeAllOf(tx, owner.id);
    const reason = `${owner.username} was deleted`;
    const entries = revoked.map((row) => revocationOf(row, caller, { reason }));
    await this.audit.record(tx, ...entries);
    return revoked.length;
  }

  /**
   * The user who owns the caller may be deleted concurrently. Either the deletion waits and then finds the new key, or
   * the caller waits here and then finds its credentials invalid.
   */
  private async lockOwner(tx: Tx, caller: Principal): Promise<void> {
    if (caller.personId === undefined) return;
    await this.users.lockAgainstDeletion(tx, caller.personId);
    await caller.begin(tx);
  }
}

function revocationOf(
  { id, name, role, prefix }: RevokedApiKey,
  caller: Principal,
  more: Readonly<Record<string, unknown>> = {},
): AuditEntry {
  return {
    actor: caller.name,
    action: 'api_key.revoked',
    subject: { type: 'api_key', id },
    details: { name, role, prefix, ...more },
  };
}
