import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { requireRole } from '../auth/authorisation.js';
import type { Principal } from '../auth/principal.js';
import { type Participant, Transactions } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { ATTENTION, ATTENTION_KINDS, roleToMark } from './attention-kinds.sql.js';
import {
  type Attention,
  AttentionRepository,
  type AttentionRequest,
  type DoneItem,
} from './attention.repository.js';

/** Lists failures that nobody was told about, until they are fixed or marked as done. */
@Injectable()
export class AttentionService {
  constructor(
    private readonly repository: AttentionRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
  ) {}

  list({ role }: Principal, request: Omit<AttentionRequest, 'visible'>): Promise<Attention> {
    const visible = ATTENTION_KINDS.filter(
      (kind) => role === 'admin' || !ATTENTION[kind].adminOnly,
    );
    return this.repository.list({ ...request, visible });
  }

  async done(
    caller: Principal,
    id: string,
    reason: string,
    idempotency: Participant<DoneItem>,
  ): Promise<DoneItem> {
    const [name, ...subject] = id.split('.');
    const kind = ATTENTION_KINDS.find((one) => one === name);
    if (!kind) throw new NotFoundError('Attention item');
    requireRole(caller, roleToMark(kind));
    return this.transactions.run(
      async (tx) => {
        const item = { kind, subject: subject.join('.') };
        const done = await this.repository.mark(tx, item, { by: caller.name, reason });
        if (!done) throw new NotFoundError('Attention item');
        await this.audit.record(tx, {
          actor: caller.name,
          action: 'attention.done',
          subject: { type: 'attention_item', id },
          details: { reason },
        });
        return done;
      },
      caller,
      idempotency,
    );
  }
}
