import type { AuditLog } from '../../audit/audit-log.js';
import { newId } from '../../platform/ids.js';
import type { Statements } from '../../platform/database/statements.js';
import type { Transactions } from '../../platform/database/transactions.js';
import { WeakPasswordError } from '../auth.errors.js';
import { hashPassword } from '../passwords/password-hash.js';
import { weaknessOf } from '../passwords/password-requirements.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { UsersRepository } from '../users/users.repository.js';

export type AdminOutcome = 'created' | 'reset';

/** For an operator at the machine, who has no way in through the service: makes an admin, or gives one access again. */
export class AdminAccount {
  private readonly users: UsersRepository;
  private readonly sessions: SessionsRepository;

  constructor(
    private readonly transactions: Transactions,
    statements: Statements,
    private readonly audit: AuditLog,
  ) {
    this.users = new UsersRepository(statements);
    this.sessions = new SessionsRepository(statements);
  }

  /** Undefined when the name belonged to a user who was deleted: names are never used again. */
  async ensure(username: string, password: string): Promise<AdminOutcome | undefined> {
    const weakness = await weaknessOf(password, username);
    if (weakness !== undefined) throw new WeakPasswordError('The password', weakness);
    const passwordHash = await hashPassword(password);
    return await this.transactions.run(async (tx) => {
      const row = { id: newId(), username, role: 'admin', enabled: true, passwordHash } as const;
      const created = await this.users.insertIfNew(tx, row);
      if (!created) {
        const id = await this.users.findIdByName(tx, username);
        if (id === undefined) return undefined;
        await this.users.update(tx, id, { role: 'admin', enabled: true, passwordHash });
        await this.sessions.endAllOf(tx, id);
      }
      await this.audit.record(tx, {
        actor: 'system',
        action: created ? 'user.created' : 'user.updated',
        subject: { type: 'user', id: username },
        details: { role: 'admin', enabled: true, password: 'set', reason: 'create-admin command' },
      });
      return created ? 'created' : 'reset';
    });
  }
}
