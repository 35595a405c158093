import type { DataSource } from 'typeorm';
import type { AuditLog } from '../../audit/audit-log.js';
import { newId } from '../../platform/ids.js';
import { Transactions } from '../../platform/database/transactions.js';
import { WeakPasswordError } from '../auth.errors.js';
import { hashPassword } from '../passwords/password-hash.js';
import { weaknessOf } from '../passwords/password-requirements.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { UsersRepository } from '../users/users.repository.js';

export type AdminOutcome = 'created' | 'reset';

/** For an operator at the machine who cannot log in: makes an admin, or gives an existing user access as an admin again. */
export class AdminAccount {
  private readonly users: UsersRepository;
  private readonly sessions: SessionsRepository;
  private readonly transactions: Transactions;

  constructor(
    dataSource: DataSource,
    private readonly audit: AuditLog,
  ) {
    this.users = new UsersRepository(dataSource);
    this.sessions = new SessionsRepository(dataSource);
    this.transactions = new Transactions(dataSource);
  }

  /** Answers undefined when the name belonged to a user who was deleted, because names are never used again. */
  async ensure(username: string, password: string): Promise<AdminOutcome | undefined> {
    const weakness = await weaknessOf(password, username);
    if (weakness !== undefined) throw new WeakPasswordError('The password', weakness);
    const password_hash = await hashPassword(password);
    return await this.transactions.run(async (tx) => {
      const access = { role: 'admin', enabled: true, password_hash } as const;
      const created = await this.users.insertIfNew(tx, { id: newId(), username, ...access });
      if (!created) {
        const id = await this.users.findIdByName(tx, username);
        if (id === undefined) return undefined;
        await this.users.update(tx, id, access);
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
