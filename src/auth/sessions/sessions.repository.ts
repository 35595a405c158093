// SQL: a deletion that returns the name of the user, and a CTE that deletes old networks and stores the current one.
import { Injectable } from '@nestjs/common';
import { DataSource, Not, Raw } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import { findOrder, type Page } from '../../platform/paging/page.js';
import { shownStart } from '../../platform/text.js';
import {
  ABSOLUTE_HOURS,
  IDLE_HOURS,
  type Session,
  SessionEntity,
  KnownNetworkEntity,
} from './session.entity.js';
import type { SessionQueryDto } from '../me/me.dto.js';

/** Browsers send less. Longer texts are cut, because a stranger may send anything. */
const LONGEST_AGENT = 256;

/** More networks than one user normally uses, and few enough to limit the table. */
const MOST_NETWORKS = 50;
const KEPT_DAYS = 180;

const REMEMBER_NETWORK = `
  with forgotten as (
    delete from known_networks where user_id = $1 and network in (
      select network from known_networks where user_id = $1 and network <> $2
      order by last_seen_at desc, network offset ${MOST_NETWORKS - 1})
  )
  insert into known_networks (user_id, network) values ($1, $2)
  on conflict (user_id, network) do update set last_seen_at = now()`;

const SORT_COLUMNS = { created_at: 'created_at', last_seen_at: 'last_seen_at' } as const;

@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the time at which the session ends even if it is in use. `tokenHash` is hexadecimal. */
  async insert(
    tx: Tx,
    tokenHash: string,
    session: Pick<SessionEntity, 'id' | 'user_id' | 'address' | 'user_agent'>,
  ): Promise<Date> {
    const result = await tx
      .createQueryBuilder()
      .insert()
      .into(SessionEntity)
      .values({
        ...session,
        token_hash: Buffer.from(tokenHash, 'hex'),
        expires_at: () => `now() + interval '${ABSOLUTE_HOURS} hours'`,
        user_agent: session.user_agent && shownStart(session.user_agent, LONGEST_AGENT),
      })
      .returning(['expires_at'])
      .execute();
    return (result.raw as Pick<SessionEntity, 'expires_at'>[])[0]!.expires_at;
  }

  /** Returns the name of the user; `undefined` if there was no such session. */
  async endByToken(tx: Tx, tokenHash: string): Promise<string | undefined> {
    const [rows] = await tx.query<[{ username: string }[], number]>(
      `delete from sessions s using users u
        where u.id = s.user_id and s.token_hash = decode($1, 'hex') returning u.username`,
      [tokenHash],
    );
    return rows[0]?.username;
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
    { page, per_page, sort }: SessionQueryDto,
  ): Promise<Page<Session>> {
    const [items, total] = await this.dataSource.getRepository(SessionEntity).findAndCount({
      where: {
        user_id: userId,
        expires_at: Raw((column) => `${column} > now()`),
        last_seen_at: Raw((column) => `${column} > now() - interval '${IDLE_HOURS} hours'`),
      },
      order: findOrder(sort, SORT_COLUMNS, 'id'),
      skip: (page - 1) * per_page,
      take: per_page,
    });
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

  /**
   * Remembers the network of a login. Attempts from networks of earlier logins are accepted while other networks are
   * limited, so that guessing does not lock the user out. The caller has locked the user.
   */
  async rememberNetwork(tx: Tx, userId: string, network: string): Promise<void> {
    await tx.query(REMEMBER_NETWORK, [userId, network]);
  }

  /** Needs no transaction: nothing else changes with it. */
  async deleteOldNetworks(): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .delete()
      .from(KnownNetworkEntity)
      .where(`last_seen_at <= now() - interval '${KEPT_DAYS} days'`)
      .orWhere('user_id in (select id from users where deleted_at is not null)')
      .execute();
  }
}
