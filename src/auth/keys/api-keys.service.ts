import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import type { Role } from '../../common/access.js';
import type { LimitClass } from '../../common/caller.js';
import { AppError, NotFoundError } from '../../common/errors/app-error.js';
import { isUuid, newId } from '../../common/ids.js';
import type { Page, PageRequest } from '../../common/paging/page.js';
import { mapConstraints } from '../../database/sqlstate.js';
import { type Participant, Transactions } from '../../database/transactions.js';
import type { Principal } from '../principal.js';
import { Verification } from '../principals/verification.js';
import type { ApiKeyRow, ApiKeySort, CreatedKey } from './api-key.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { createKey } from './key-format.js';

export interface CreateKey {
  readonly name: string;
  readonly role: Role;
  readonly expires_in_days?: number;
  readonly limits?: Partial<Readonly<Record<LimitClass, number>>>;
}

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly transactions: Transactions,
    private readonly keys: ApiKeysRepository,
    private readonly audit: AuditLog,
    private readonly verification: Verification,
  ) {}

  async create(
    caller: Principal,
    wanted: CreateKey,
    keep: Participant<CreatedKey>,
  ): Promise<CreatedKey> {
    const taken = () => new AppError('conflict', `The name ${wanted.name} is or was in use.`);
    return await mapConstraints({ uq_api_keys_name: taken }, () =>
      this.transactions.run<CreatedKey>(
        async (tx) => {
          const { key, prefix, hash } = createKey();
          const row = await this.keys.insert(tx, {
            id: newId(),
            name: wanted.name,
            role: wanted.role,
            prefix,
            secretHash: hash,
            limits: wanted.limits ?? {},
            createdBy: caller.name,
            ...(caller.personId !== undefined && { ownerId: caller.personId }),
            ...(wanted.expires_in_days !== undefined && { expiresInDays: wanted.expires_in_days }),
          });
          await this.audit.record(tx, {
            actor: caller.name,
            action: 'api_key.created',
            subject: { type: 'api_key', id: row.id },
            details: { name: row.name, role: row.role, prefix, expires_at: row.expires_at },
          });
          return { row, key };
        },
        caller,
        keep,
      ),
    );
  }

  list(request: PageRequest, sort: ApiKeySort): Promise<Page<ApiKeyRow>> {
    return this.keys.list(request, sort);
  }

  async revoke(caller: Principal, id: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('API key');
    await this.transactions.run(async (tx) => {
      const revoked = await this.keys.revoke(tx, id);
      if (!revoked) throw new NotFoundError('API key');
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'api_key.revoked',
        subject: { type: 'api_key', id },
        details: { name: revoked.name, role: revoked.role, prefix: revoked.prefix },
      });
      this.transactions.onCommit(tx, () => this.verification.forgetKey(revoked.prefix));
    }, caller);
  }
}
