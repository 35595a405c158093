// SQL in `remember`: one statement deletes the oldest networks (a CTE) and stores the current one.
import { Injectable } from '@nestjs/common';
import { DataSource, Not } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import {
  findOrder,
  orderOfAlias,
  type Page,
  type PageRequest,
} from '../../platform/paging/page.js';
import { SESSION_IS_VALID } from '../principals/credentials-still-valid.js';
import { shownStart } from '../../platform/text.js';
import { UserEntity } from '../users/user.entity.js';
import {
  type SessionSort,
  ABSOLUTE_HOURS,
  IDLE_HOURS,
  type NewSession,
  type Session,
  SessionEntity,
  KnownNetworkEntity,
} from './session.entity.js';

/** Browsers send less. Longer texts are cut, because a stranger may send anything. */
const LONGEST_AGENT = 256;

const SORT_COLUMNS = { created_at: 'created_at', last_seen_at: 'last_seen_at' } as const;

@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the time at which the session ends even if it is in use. */
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

  /** Returns the id of the user; `undefined` if there was no such session. */
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

  /** `false` if the user has no such session. */
  async endOwn(tx: Tx, userId: string, id: string): Promise<boolean> {
    const { affected } = await tx.getRepository(SessionEntity).delete({ id, user_id: userId });
    return affected === 1;
  }

  /** Needs no transaction: nothing else changes with it. */
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

/** More networks than one user normally uses, and few enough to limit the table. */
const MOST_OF_A_USER = 50;
const KEPT_DAYS = 180;

const REMEMBER = `
  with forgotten as (
    delete from known_networks where user_id = $1 and network in (
      select network from known_networks where user_id = $1 and network <> $2
      order by last_seen_at desc, network offset ${MOST_OF_A_USER - 1})
  )
  insert into known_networks (user_id, network) values ($1, $2)
  on conflict (user_id, network) do update set last_seen_at = now()`;

/**
 * Networks from which users have logged in. Attempts from them are accepted while attempts from other networks are
 * limited, so that guessing does not lock the user out.
 */
@Injectable()
export class KnownNetworksRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The caller has locked the user. The oldest networks are deleted. */
  async remember(tx: Tx, userId: string, network: string): Promise<void> {
    await tx.query(REMEMBER, [userId, network]);
  }

  async has(userId: string, network: string): Promise<boolean> {
    const networks = this.dataSource.getRepository(KnownNetworkEntity);
    return await networks.existsBy({ user_id: userId, network });
  }

  /** Needs no transaction: nothing else changes with it. */
  async deleteOld(): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .delete()
      .from(KnownNetworkEntity)
      .where(`last_seen_at <= now() - interval '${KEPT_DAYS} days'`)
      .orWhere('user_id in (select id from users where deleted_at is not null)')
      .execute();
  }
}
