import { Injectable } from '@nestjs/common';
import { DataSource, Not } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import { findOrder, orderOfAlias } from '../../platform/paging/find-order.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import { SESSION_IS_VALID } from '../principals/credentials-still-valid.js';
import { shownStart } from '../../platform/text.js';
import { UserEntity } from '../users/user.entity.js';
import {
  type SessionSort,
  ABSOLUTE_HOURS,
  IDLE_HOURS,
  type NewSession,
  type Session,
} from './session.js';
import { SessionEntity } from './session.entity.js';

/** Browsers send less. A stranger may send anything, so the rest is cut off. */
const LONGEST_AGENT = 256;

const SORT_COLUMNS = { created_at: 'created_at', last_seen_at: 'last_seen_at' } as const;

@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Answers when the session ends even while it is in use. */
  async insert(tx: Tx, { id, userId, tokenHash, address, userAgent }: NewSession): Promise<Date> {
    const result = await tx
      .createQueryBuilder()
      .insert()
      .into(SessionEntity)
      .values({
        id,
        user_id: userId,
        token_hash: Buffer.from(tokenHash, 'hex'),
        expires_at: () => `now() + interval '${ABSOLUTE_HOURS} hours'`,
        address,
        user_agent: userAgent && shownStart(userAgent, LONGEST_AGENT),
      })
      .returning(['expires_at'])
      .execute();
    return (result.raw as Pick<SessionEntity, 'expires_at'>[])[0]!.expires_at;
  }

  /** The id of the user whose session it was; undefined when there was none. */
  async endByToken(tx: Tx, tokenHash: string): Promise<string | undefined> {
    const result = await tx
      .createQueryBuilder()
      .delete()
      .from(SessionEntity)
      .where({ token_hash: Buffer.from(tokenHash, 'hex') })
      .returning(['user_id'])
      .execute();
    return (result.raw as Pick<SessionEntity, 'user_id'>[])[0]?.user_id;
  }

  async endAllOf(tx: Tx, userId: string, exceptId?: string): Promise<void> {
    const all = { user_id: userId };
    await tx
      .getRepository(SessionEntity)
      .delete(exceptId === undefined ? all : { ...all, id: Not(exceptId) });
  }

  /** Only sessions that are still valid. */
  async listByUser(
    userId: string,
    { page, per_page }: PageRequest,
    sort: readonly SessionSort[],
  ): Promise<Page<Session>> {
    const order = findOrder<SessionEntity, keyof typeof SORT_COLUMNS>(sort, SORT_COLUMNS, 'id');
    const [items, total] = await this.dataSource
      .getRepository(SessionEntity)
      .createQueryBuilder('s')
      .innerJoin(UserEntity, 'u', 'u.id = s.user_id')
      .where('s.user_id = :userId', { userId })
      .andWhere(SESSION_IS_VALID)
      .orderBy(orderOfAlias('s', order))
      .limit(per_page)
      .offset((page - 1) * per_page)
      .getManyAndCount();
    return { items, total };
  }

  /** False when the user has no such session. */
  async endOwn(tx: Tx, userId: string, id: string): Promise<boolean> {
    const { affected } = await tx.getRepository(SessionEntity).delete({ id, user_id: userId });
    return affected === 1;
  }

  /** A transaction of its own, because nothing else changes with it. */
  async deleteExpired(): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .delete()
      .from(SessionEntity)
      .where('expires_at <= now()')
      .orWhere(`last_seen_at <= now() - interval '${IDLE_HOURS} hours'`)
      .execute();
  }
}
