import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';

/** Of one user: more than anybody logs in from, and few enough that a traveller fills no table. */
const MOST_OF_A_USER = 50;
const KEPT_DAYS = 180;

/** The networks that users have logged in from: who comes from one of them is no stranger to the account. */
@Injectable()
export class KnownNetworksRepository {
  constructor(private readonly statements: Statements) {}

  /** For who holds the user locked. The ones that were seen longest ago make room. */
  async remember(tx: Tx, userId: string, network: string): Promise<void> {
    const statement = {
      name: 'known_networks_remember',
      text: `with forgotten as (
          delete from known_networks where user_id = $1 and network in (
            select network from known_networks where user_id = $1 and network <> $2
            order by last_seen_at desc, network offset ${MOST_OF_A_USER - 1})
        )
        insert into known_networks (user_id, network) values ($1, $2)
        on conflict (user_id, network) do update set last_seen_at = now()`,
    };
    await this.statements.rowsIn(tx, statement, [userId, network]);
  }

  async has(userId: string, network: string): Promise<boolean> {
    const text = `select 1 from known_networks where user_id = $1 and network = $2`;
    const statement = { name: 'known_networks_has', text };
    return (await this.statements.rows(statement, [userId, network])).length > 0;
  }

  async deleteOld(): Promise<void> {
    await this.statements.rows({
      name: 'known_networks_delete_old',
      text: `delete from known_networks k using users u
        where u.id = k.user_id
          and (u.deleted_at is not null or k.last_seen_at <= now() - interval '${KEPT_DAYS} days')`,
    });
  }
}
