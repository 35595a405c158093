import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { requireRole } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import { type Participant, Transactions } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import {
  type Attention,
  attentionId,
  type AttentionRequest,
  kindsFor,
  mayMend,
  partsOfId,
} from './attention.js';
import type { AttentionMarkEntity } from './attention-mark.entity.js';
import { AttentionRepository } from './attention.repository.js';

/** Lists failures that nobody was told about, until they are fixed or marked as done. */
@Injectable()
export class AttentionService {
  constructor(
    private readonly repository: AttentionRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
  ) {}

  list(caller: Principal, request: Omit<AttentionRequest, 'kinds'>): Promise<Attention> {
    return this.repository.list({ ...request, kinds: kindsFor(caller.role) });
  }

  async done(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<AttentionMarkEntity>,
  ): Promise<AttentionMarkEntity> {
    const item = partsOfId(id);
    if (!item) throw new NotFoundError('Attention item');
    requireRole(caller, mayMend(item.kind));
    return this.transactions.run(
      async (tx) => {
        const mark = await this.repository.mark(tx, item, { by: caller.name, reason });
        if (!mark) throw new NotFoundError('Attention item');
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'attention.done',
          subject: { type: 'attention_item', id: attentionId(item) },
          details: { reason },
        });
        return mark;
      },
      caller,
      idempotency,
    );
  }
}
