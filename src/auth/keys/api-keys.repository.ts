import { Injectable } from '@nestjs/common';
import type { Page } from '../../platform/paging/page.js';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { ApiKeyListRequest, ApiKey, ApiKeySort, NewApiKey } from './api-key.js';

const COLUMNS = `id, name, role, prefix, limit_read, limit_write, limit_triage, created_by, created_at, expires_at, last_used_at,
  (select username from users where users.id = owner_id) as owner`;

const ORDERS: Readonly<Record<ApiKeySort, string>> = {
  created_at: 'created_at, id',
  '-created_at': 'created_at desc, id desc',
  name: 'name, id',
  '-name': 'name desc, id desc',
};

const INSERT = `
  insert into api_keys
    (id, name, role, prefix, secret_hash, limit_read, limit_write, limit_triage, created_by, expires_at, owner_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(days => $10::int), $11)`;

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly statements: Statements) {}

  async insert(tx: Tx, row: NewApiKey): Promise<ApiKey> {
    const text = `${INSERT} returning ${COLUMNS}`;
    const rows = await this.statements.rowsIn<ApiKey>(
      tx,
      { name: 'api_keys_insert', text },
      valuesOf(row),
    );
    return rows[0]!;
  }

  /** False when the name or the prefix was ever used. */
  async insertIfNew(tx: Tx, row: NewApiKey): Promise<boolean> {
    const text = `${INSERT} on conflict do nothing returning id`;
    const statement = { name: 'api_keys_insert_if_new', text };
    return (await this.statements.rowsIn(tx, statement, valuesOf(row))).length > 0;
  }

  async hasAny(tx: Tx): Promise<boolean> {
    const statement = { name: 'api_keys_any', text: `select 1 from api_keys limit 1` };
    return (await this.statements.rowsIn(tx, statement)).length > 0;
  }

  async list({ page, per_page, sort, created_by }: ApiKeyListRequest): Promise<Page<ApiKey>> {
    const [kind, creators] = created_by === undefined ? ['all', []] : ['of', [created_by]];
    const shown = `revoked_at is null${created_by === undefined ? '' : ' and created_by = $1'}`;
    const [limit, offset] = [1, 2].map((at) => `$${creators.length + at}`);
    const rows = {
      name: `api_keys_list_${kind}_${sort}`,
      text: `select ${COLUMNS} from api_keys where ${shown} order by ${ORDERS[sort]} limit ${limit} offset ${offset}`,
    };
    const count = {
      name: `api_keys_count_${kind}`,
      text: `select count(*)::int as total from api_keys where ${shown}`,
    };
    const [items, [counted]] = await Promise.all([
      this.statements.rows<ApiKey>(rows, [...creators, per_page, (page - 1) * per_page]),
      this.statements.rows<{ total: number }>(count, creators),
    ]);
    return { items, total: counted!.total };
  }

  /** The key that ceased to hold; undefined when there was none. */
  async revoke(tx: Tx, id: string): Promise<ApiKey | undefined> {
    const statement = {
      name: 'api_keys_revoke',
      text: `update api_keys set revoked_at = now() where id = $1 and revoked_at is null returning ${COLUMNS}`,
    };
    return (await this.statements.rowsIn<ApiKey>(tx, statement, [id]))[0];
  }

  /** The keys of a user that ceased to hold. */
  async revokeAllOf(tx: Tx, ownerId: string): Promise<ApiKey[]> {
    const statement = {
      name: 'api_keys_revoke_owned',
      text: `update api_keys set revoked_at = now() where owner_id = $1 and revoked_at is null returning ${COLUMNS}`,
    };
    return await this.statements.rowsIn<ApiKey>(tx, statement, [ownerId]);
  }

  /** Waits for who is about to delete or disable the user, and makes the next one wait. */
  async lockOwner(tx: Tx, ownerId: string): Promise<void> {
    const text = `select 1 from users where id = $1 for key share`;
    await this.statements.rowsIn(tx, { name: 'api_keys_lock_owner', text }, [ownerId]);
  }
}

function valuesOf(row: NewApiKey): unknown[] {
  const { read, write, triage } = row.limits;
  return [
    row.id,
    row.name,
    row.role,
    row.prefix,
    row.secretHash,
    read ?? null,
    write ?? null,
    triage ?? null,
    row.createdBy,
    row.expiresInDays ?? null,
    row.ownerId ?? null,
  ];
}
