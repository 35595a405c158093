import { Injectable } from '@nestjs/common';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import type { Role } from '../../platform/access/roles.js';
import type { KeyLimitClass, LimitClass } from '../../platform/http/caller.js';
import { AppError, NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid, newId } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import { mapConstraints } from '../../platform/database/sqlstate.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../../platform/database/transactions.js';
import type { Principal } from '../principal.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { User } from '../users/user.entity.js';
import type { ApiKeyListRequest, CreatedKey, ApiKey, RevokedApiKey } from './api-key.entity.js';
import { UsersRepository } from '../users/users.repository.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { createKey } from './key-format.js';

interface CreateKey {
  readonly name: string;
  readonly role: Role;
  readonly expires_in_days?: number;
  readonly limit_class?: KeyLimitClass;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
}

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
    wanted: CreateKey,
    idempotency: Participant<CreatedKey>,
  ): Promise<CreatedKey> {
    const taken = () =>
      new AppError('conflict', `The name ${wanted.name} is in use, or was used before.`);
    return await mapConstraints({ uq_api_keys_name: taken }, () =>
      this.transactions.run<CreatedKey>(
        async (tx) => {
          await this.lockOwner(tx, caller);
          const { key, prefix, hash } = createKey();
          const row = await this.keys.insert(tx, {
            id: newId(),
            name: wanted.name,
            role: wanted.role,
            prefix,
            secret_hash: hash,
            limit_class: wanted.limit_class,
            limits: wanted.limits ?? {},
            created_by: caller.name,
            owner_id: caller.personId,
            expiresInDays: wanted.expires_in_days,
          });
          await this.audit.record(tx, {
            actor: caller.name,
            action: 'api_key.created',
            subject: { type: 'api_key', id: row.id },
            details: {
              ...{ name: row.name, role: row.role, prefix, expires_at: row.expires_at },
              limit_class: row.limit_class,
            },
          });
          return { row, key };
        },
        caller,
        idempotency,
      ),
    );
  }

  list(request: ApiKeyListRequest): Promise<Page<ApiKey>> {
    return this.keys.list(request);
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
