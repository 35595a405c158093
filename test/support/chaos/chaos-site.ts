import { Pool } from 'pg';
import { createKey } from '../../../src/auth/credentials.js';
import type { Role } from '../../../src/platform/access/roles.js';
import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import { newId } from '../../../src/platform/ids.js';
import { type Behaviour, FakeVendor } from '../fake-vendor.js';
import { createTestDatabase, type TestDatabase } from '../test-database.js';
import { type ChaosOptions, ChaosReplica } from './chaos-replica.js';

/** Kind of action with its own connector, so that a failing vendor opens no circuit breaker of another kind. */
export interface Kind {
  readonly type: ActionTypeName;
  readonly parameters: Readonly<Record<string, string>>;
  /** Behaviour of the vendor for the first request of an action, and for later requests. */
  readonly behaviours: readonly [Behaviour, ...Behaviour[]];
  readonly afterMs?: number;
  readonly idempotent?: boolean;
  /** True if the action needs approval. Otherwise it runs immediately. */
  readonly approved?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface ReplyOptions {
  readonly key: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Sends a request. Throws if there is no complete response. */
export async function ask(
  url: string,
  method: string,
  path: string,
  { key, body, headers, timeoutMs = 20_000 }: ReplyOptions,
): Promise<Reply> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
}

/**
 * A database, a vendor that listens, and several replicas. If a replica is killed, a new replica takes its place in
 * `places`.
 */
export class ChaosSite {
  readonly places: ChaosReplica[] = [];
  private readonly attempts = new Map<string, number>();

  private constructor(
    readonly database: TestDatabase,
    readonly db: Pool,
    readonly vendor: FakeVendor,
    private readonly options: Omit<ChaosOptions, 'databaseUrl'>,
  ) {}

  static async open(
    kinds: readonly Kind[],
    { places = 2, ...options }: Omit<ChaosOptions, 'databaseUrl'> & { places?: number } = {},
  ): Promise<ChaosSite> {
    const database = await createTestDatabase();
    const db = new Pool({ connectionString: database.url, max: 3 });
    db.on('error', () => undefined);
    const levels = Object.fromEntries(
      kinds.map(({ type, approved }) => [type, approved ? 'analyst' : 'none']),
    );
    const site = new ChaosSite(database, db, await FakeVendor.start(), {
      ...options,
      settings: { APPROVAL_LEVELS: JSON.stringify(levels), ...options.settings },
    });
    for (let place = 0; place < places; place += 1) await site.restart(place);
    await site.connect(kinds);
    return site;
  }

  async restart(place: number): Promise<ChaosReplica> {
    const replica = await ChaosReplica.launch({
      databaseUrl: this.database.url,
      ...this.options,
    });
    this.places[place] = replica;
    return replica;
  }

  /** Inserts a new key of the role directly into the database. */
  async makeKey(role: Role): Promise<string> {
    const { key, prefix, hash } = createKey();
    await this.db.query(
      `insert into api_keys (id, name, role, prefix, secret_hash, created_by) values ($1, $2, $3, $4, $5, 'test')`,
      [newId(), `${role}-${prefix}`, role, prefix, hash],
    );
    return key;
  }

  async close(): Promise<void> {
    await ChaosReplica.endAll();
    await this.db.end();
    await this.vendor.stop();
    await this.database.drop();
  }

  private async connect(kinds: readonly Kind[]): Promise<void> {
    const key = await this.makeKey('admin');
    for (const { type, idempotent } of kinds) {
      const action = { path: `/${type}`, body: { id: '{{ action.id }}' } };
      const config = {
        base_url: this.vendor.url,
        actions: { [type]: { ...action, ...(idempotent && { idempotent }) } },
      };
      const body = { name: type.replaceAll('_', '-'), type: 'http', config };
      const answer = await ask(this.places[0]!.url, 'POST', '/api/connectors', { key, body });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    }
    const byPath = new Map(kinds.map((kind) => [`/${kind.type}`, kind]));
    this.vendor.plan = ({ path, key: action }) => {
      const kind = byPath.get(path);
      if (!kind) return { behaviour: 'apply', afterMs: 0 };
      const before = this.attempts.get(action) ?? 0;
      this.attempts.set(action, before + 1);
      const { behaviours, afterMs = 0 } = kind;
      return { behaviour: behaviours[Math.min(before, behaviours.length - 1)]!, afterMs };
    };
  }
}
