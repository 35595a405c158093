import { Client, type PoolConfig, type QueryConfig } from 'pg';
import type { Settings } from '../config/settings.js';
import { codeOf, type Span, beginSpan, presentSpan } from '../tracing/tracing.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';
import { createHash } from 'node:crypto';

/** Time after the statement timeout at which the client aborts: a hanging server does not enforce the timeout. */
const READ_GRACE_MS = 1_000;

export function connectionOptions(url: string, settings: Settings): PoolConfig {
  return {
    Client: ServiceClient,
    connectionString: withLibpqMeaning(url),
    application_name: 'incident-triage-service',
    max: settings.databasePoolSize,
    connectionTimeoutMillis: settings.databaseConnectTimeoutMs,
    statement_timeout: settings.databaseStatementTimeoutMs,
    query_timeout: settings.databaseStatementTimeoutMs + READ_GRACE_MS,
    idle_in_transaction_session_timeout: settings.databaseStatementTimeoutMs,
    // Statements are short. If the planner overestimates, JIT compilation takes far longer than the statement.
    options: '-c jit=off',
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // After a failover the host name may resolve to another server.
    maxLifetimeSeconds: 600,
  };
}

/** Options for migrations: few connections and no time limit, because migrating a large table may take long. */
export function patientConnectionOptions(url: string): PoolConfig {
  return {
    connectionString: withLibpqMeaning(url),
    application_name: 'incident-triage-service',
    max: 2,
  };
}

/** Options for operator commands: no time limit, and a separate name in pg_stat_activity. */
export function commandConnection(url: string): PoolConfig {
  return { ...patientConnectionOptions(url), application_name: 'incident-triage-command' };
}

/** Gives `sslmode` the meaning that it has in libpq; node-pg alone is stricter than operators expect. */
function withLibpqMeaning(url: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.toString();
}

/** Message of node-pg after `query_timeout`. */
const HUNG = 'Query read timeout';

/** Closes its connection if the server hangs (node-pg ends only the query) or became a read-only standby. */
export class ServiceClient extends Client {
  private latest: Promise<unknown> = Promise.resolve();
  private underWay = 0;

  constructor(config?: PoolConfig) {
    super(config);
    // A connection that breaks while the pool hands it out has no other listener, and the event would end the process.
    this.on('error', () => undefined);
  }

  override query = ((...args: unknown[]): unknown => {
    // An object that submits itself, such as a COPY stream, also reports its own end.
    if (typeof args[0] === 'object' && args[0] !== null && 'submit' in args[0]) {
      return this.send(args);
    }
    const callback = typeof args.at(-1) === 'function' ? (args.pop() as Callback) : undefined;
    const span = beginStatement(args[0] as string | TracedQuery);
    const answer = this.inTurn(args);
    answer.then(
      () => span?.end(),
      (error: unknown) => this.failed(span, error),
    );
    if (!callback) return answer;
    answer.then((result) => callback(undefined, result), callback);
    return undefined;
  }) as Client['query'];

  /** Queues a statement while another one runs: concurrent parts of a transaction share the connection. */
  private inTurn(args: readonly unknown[]): Promise<unknown> {
    const send = () => this.send(args) as Promise<unknown>;
    const answer = this.underWay === 0 ? send() : this.latest.then(send, send);
    this.underWay += 1;
    const ended = (): void => void (this.underWay -= 1);
    this.latest = answer.then(ended, ended);
    return answer;
  }

  private send([text, values, ...others]: readonly unknown[]): unknown {
    const isBare = typeof text === 'string' && Array.isArray(values) && values.length > 0;
    const sent = isBare
      ? [{ text, values: values as unknown[], name: nameFor(text) }]
      : [text, values];
    return (super.query as (...all: unknown[]) => unknown).call(this, ...sent, ...others);
  }

  private failed(span: Span | undefined, error: unknown): void {
    span?.end(codeOf(error));
    const hung = error instanceof Error && error.message === HUNG;
    if (!hung && sqlStateOf(error) !== SQLSTATE.readOnlyTransaction) return;
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  }
}

type Callback = (error: unknown, result?: unknown) => void;

/** Number of uses after which a text gets a prepared statement on every connection. */
const OFTEN = 20;
const MOST_NAMED = 200;
const MOST_COUNTED = 2_000;

/** Statements whose plans do not depend on values: writes, and reads of few rows. A new column breaks `returning *`. */
const WORTH_A_NAME =
  /^(?!.*(?:\border by\b|returning \*|select \*|\.\*))\s*(?:insert|update|delete|select)\b/is;
const LONGEST_TEXT = 8_000;

const names = new Map<string, string>();
const counts = new Map<string, number>();

/** Returns a name for a frequent unnamed statement, such as of TypeORM, which PostgreSQL then plans once per connection. */
export function nameFor(text: string): string | undefined {
  const known = names.get(text);
  if (known || names.size >= MOST_NAMED || text.length > LONGEST_TEXT) return known;
  const count = (counts.get(text) ?? 0) + 1;
  if (counts.size >= MOST_COUNTED) counts.clear();
  counts.set(text, count);
  if (count < OFTEN || !WORTH_A_NAME.test(text)) return undefined;
  const name = `t_${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`;
  names.set(text, name);
  counts.delete(text);
  return name;
}

/** Query with the span of its caller: the caller that releases a connection sends the query that waits for it. */
export interface TracedQuery extends QueryConfig<unknown[]> {
  readonly span?: Span | undefined;
}

const FIRST_WORD = /^\s*([a-z]{1,20})\b/i;

/** Begins a span for a statement of a request or job, without the values. Polling loops get no spans. */
function beginStatement(given: string | TracedQuery): Span | undefined {
  const { text, name, span }: TracedQuery = typeof given === 'string' ? { text: given } : given;
  const parent = span ?? presentSpan();
  if (!parent) return undefined;
  const operation = FIRST_WORD.exec(text)?.[1]?.toLowerCase();
  return beginSpan(
    {
      name: name ?? operation ?? 'statement',
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.query.text': text,
      },
    },
    parent,
  );
}
