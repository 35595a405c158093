// SQL in `remember`: one statement forgets the oldest networks (a CTE) and stores the present one.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import { KnownNetworkEntity } from './known-network.entity.js';

/** More networks than one user logs in from, and few enough that somebody who moves a lot does not fill the table. */
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
 * The networks that users have logged in from. An attempt from one of them is let through while attempts from other
 * networks are refused, so that guessing from elsewhere does not lock the user out.
 */
@Injectable()
export class KnownNetworksRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The caller has locked the user. The networks that were seen longest ago make room. */
  async remember(tx: Tx, userId: string, network: string): Promise<void> {
    await tx.query(REMEMBER, [userId, network]);
  }

  async has(userId: string, network: string): Promise<boolean> {
    const networks = this.dataSource.getRepository(KnownNetworkEntity);
    return await networks.existsBy({ user_id: userId, network });
  }

  /** A transaction of its own, because nothing else changes with it. */
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
