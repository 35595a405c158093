import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid } from '../../platform/ids.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { Transactions } from '../../platform/database/transactions.js';
import type { Principal } from '../principal.js';
import { CredentialVerification } from '../authentication/credential-verification.js';
import type { SessionRow, SessionSort } from '../sessions/session.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';

/** What users see and end of their own. A key has no sessions, not even those of the user who made it. */
@Injectable()
export class OwnSessionsService {
  constructor(
    private readonly transactions: Transactions,
    private readonly sessions: SessionsRepository,
    private readonly audit: AuditLog,
    private readonly verification: CredentialVerification,
  ) {}

  /** The sessions are found by the user; the id of a key is no user's. */
  list(caller: Principal, request: PageRequest, sort: SessionSort): Promise<Page<SessionRow>> {
    return this.sessions.listOf(caller.id, request, sort);
  }

  async end(caller: Principal, id: string, address: string): Promise<void> {
    if (!isUuid(id)) throw new NotFoundError('Session');
    await this.transactions.run(async (tx) => {
      if (!(await this.sessions.endOf(tx, caller.id, id))) throw new NotFoundError('Session');
      this.transactions.onCommit(tx, () => this.verification.forgetSessionOf(id));
      await this.audit.record(tx, {
        actor: caller.name,
        action: 'auth.session_ended',
        subject: { type: 'session', id },
        details: { address },
      });
    }, caller);
  }
}
