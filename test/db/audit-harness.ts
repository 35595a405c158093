import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { AuditChainRepository } from '../../src/audit/chain/audit-chain.repository.js';
import type { AuditEntry } from '../../src/audit/audit-entry.js';
import { insertAuditRows, AuditLog } from '../../src/audit/audit-log.js';
import { AuditKeys, RETIRED_AUDIT_KEYS } from '../../src/audit/chain/audit-chain.js';
import { AuditTrail, resealTrail } from '../../src/audit/chain/audit-trail.js';
import { AuditWitness } from '../../src/audit/chain/audit-witness.js';
import { AuditService } from '../../src/audit/audit.service.js';
import { Clock } from '../../src/platform/clock.js';
import { HealthComponents } from '../../src/platform/health-components.js';
import type { ScrapedGauges } from '../../src/platform/metrics/scraped-gauges.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { readSecretKey } from '../../src/platform/config/setting-parsers.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { resealAll } from '../../src/platform/secrets/secret-keys.js';
import { SecretBox, SecretKeys } from '../../src/platform/secrets/secret-box.js';
import { openTestDatabase, type OpenTestDatabase } from '../support/open-test-database.js';

export const newKey = (): string => randomBytes(32).toString('base64');

export interface Replica {
  readonly keys: AuditKeys;
  readonly log: AuditLog;
  readonly chain: AuditChainRepository;
  readonly trail: AuditTrail;
  readonly witness: AuditWitness;
  readonly service: AuditService;
  sealAll(): Promise<void>;
  verify(): ReturnType<AuditTrail['verify']>;
}

export class AuditHarness {
  readonly transactions: Transactions;
  readonly statements: Statements;

  private constructor(readonly database: OpenTestDatabase) {
    this.transactions = new Transactions(database.dataSource);
    this.statements = new Statements(database.dataSource);
  }

  static async open(): Promise<AuditHarness> {
    return new AuditHarness(await openTestDatabase());
  }

  close(): Promise<void> {
    return this.database.close();
  }

  /** Empties the trail, as in a new database. */
  async clear(): Promise<void> {
    await this.tamper('truncate audit_log, audit_seals, audit_retired_keys, audit_chain');
  }

  replica(
    secretsKey: readonly string[],
    { chain = new AuditChainRepository(), clock = new Clock(), anchorFile = '/nowhere' } = {},
  ): Replica {
    const { dataSource } = this.database;
    const keys = new AuditKeys(new SecretKeys(secretsKey.map(readSecretKey)));
    const settings = loadSettings({ AUDIT_ANCHOR_FILE: anchorFile });
    const witness = new AuditWitness(settings, chain, keys, clock);
    const trail = new AuditTrail(this.transactions, chain, keys, witness, clock);
    const components = new HealthComponents();
    const gauges = {} as ScrapedGauges;
    return {
      keys,
      log: new AuditLog(this.statements, keys, clock),
      witness,
      chain,
      trail,
      service: new AuditService(dataSource, chain, trail, witness, components, gauges),
      sealAll: async () => {
        while ((await trail.sealPage()) !== 'done');
      },
      verify: () => trail.verify(),
    };
  }

  /** Records a row in its own transaction, and returns its id. */
  async record(replica: Replica, entry: Partial<AuditEntry> = {}): Promise<string> {
    const values = replica.log.valuesOfAll([someEntry(entry)]);
    await this.statements.rows(INSERT, values);
    return (values[0] as string[])[0]!;
  }

  async reseal(secretsKey: readonly string[], anchorFile = '/nowhere'): Promise<number> {
    const { dataSource } = this.database;
    const keys = new SecretKeys(secretsKey.map(readSecretKey));
    // The command reseal also encrypts the retired keys again.
    await resealAll(dataSource, [RETIRED_AUDIT_KEYS], new SecretBox(keys), keys.ids[0]!);
    const settings = loadSettings({ AUDIT_ANCHOR_FILE: anchorFile });
    return await resealTrail(dataSource, new AuditKeys(keys), settings);
  }

  /** Changes the tables as their owner, who can disable the triggers. */
  async tamper(...statements: string[]): Promise<void> {
    await this.asOwner(async (client) => {
      const switchTriggers = async (how: 'disable' | 'enable'): Promise<void> => {
        for (const table of ['audit_log', 'audit_seals', 'audit_chain']) {
          await client.query(`alter table ${table} ${how} trigger user`);
        }
      };
      await client.query('begin');
      await switchTriggers('disable');
      for (const statement of statements) await client.query(statement);
      await switchTriggers('enable');
      await client.query('commit');
    });
  }

  /** Copies the trail. Returns a function that sets the trail back to this genuine, earlier state. */
  async keepState(): Promise<() => Promise<void>> {
    const tables = ['audit_log', 'audit_seals', 'audit_chain'];
    const copy = `kept_${randomBytes(4).toString('hex')}`;
    await this.asOwner(async (owner) => {
      await owner.query(`create schema ${copy}`);
      for (const table of tables) {
        await owner.query(`create table ${copy}.${table} as table ${table}`);
      }
    });
    return () =>
      this.tamper(
        `truncate ${tables.join(', ')}`,
        ...tables.map((table) => `insert into ${table} select * from ${copy}.${table}`),
      );
  }

  async asOwner<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client(this.database.url);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  async rows<T extends object>(sql: string): Promise<T[]> {
    return await this.database.dataSource.query<T[]>(sql);
  }

  /** Expects that each row has exactly one seal, and that the numbers of the seals have no gap. */
  async expectEverythingSealedOnce(rows: number): Promise<void> {
    const [counts] = await this.rows<Record<string, number>>(`
      select (select count(*) from audit_log)::int as rows,
             (select count(*) from audit_log a join audit_seals s on s.audit_id = a.id)::int as sealed,
             (select count(*) from audit_seals)::int as seals,
             (select coalesce(max(seq), 0) from audit_seals)::int as last`);
    expect(counts).toEqual({ rows, sealed: rows, seals: rows, last: rows });
  }
}

export function someEntry(entry: Partial<AuditEntry> = {}): AuditEntry {
  return {
    actor: 'alice',
    action: 'incident.created',
    subject: { type: 'incident', id: 'i-1' },
    details: { severity: 'high' },
    ...entry,
  };
}

const INSERT = { name: 'harness_insert', text: insertAuditRows() };
