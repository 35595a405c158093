import { Client, type PoolConfig, type QueryConfig } from 'pg';
import type { Settings } from '../config/settings.js';
import { codeOf, type Span, beginSpan, presentSpan } from '../tracing/tracing.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';

/** Time after the statement timeout at which the client aborts: a hanging server does not enforce the timeout. */
const READ_GRACE_MS = 1_000;

/** Names in pg_stat_activity. A restore looks for connections of the service. */
export const SERVICE = 'incident-triage-service';
export const COMMAND = 'incident-triage-command';

export interface TimeLimits {
  readonly statementMs: number;
  /** Maximum wait of a request for a free connection. */
  readonly connectMs: number;
}

export const TIME_LIMITS: TimeLimits = { statementMs: 10_000, connectMs: 3_000 };

export function connectionOptions(
  url: string,
  { databasePoolSize }: Pick<Settings, 'databasePoolSize'>,
  { statementMs, connectMs }: TimeLimits = TIME_LIMITS,
): PoolConfig {
  return {
    Client: ServiceClient,
    connectionString: withLibpqMeaning(url),
    application_name: SERVICE,
    max: databasePoolSize,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    query_timeout: statementMs + READ_GRACE_MS,
    idle_in_transaction_session_timeout: statementMs,
    // Statements are short, and JIT compilation takes far longer. With the default of random_page_cost, for spinning disks, a
    // plan reads small tables whole, and does so until the next analysis of the tables, which may have grown.
    options: '-c jit=off -c random_page_cost=1.1',
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // After a failover the host name may resolve to another server.
    maxLifetimeSeconds: 600,
  };
}

/** Options for migrations and commands: few connections and no time limit, because a large table may take long. */
export function patientConnection(url: string, application_name: string): PoolConfig {
  return { connectionString: withLibpqMeaning(url), application_name, max: 2 };
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
    const send = () => super.query(...(args as [string])) as Promise<unknown>;
    const answer = this.underWay === 0 ? send() : this.latest.then(send, send);
    this.underWay += 1;
    const ended = (): void => void (this.underWay -= 1);
    this.latest = answer.then(ended, ended);
    return answer;
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
