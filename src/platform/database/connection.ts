import { Client, type PoolConfig, type QueryConfig } from 'pg';
import type { Settings } from '../config/settings.js';
import { codeOf, type Span, beginSpan, presentSpan } from '../tracing/tracing.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';

/** The client aborts this long after the statement timeout, which a hanging server does not enforce. */
const READ_GRACE_MS = 1_000;

/** Application names in pg_stat_activity. A restore uses them to find connections of the service. */
export const SERVICE = 'incident-triage-service';
export const COMMAND = 'incident-triage-command';

export interface TimeLimits {
  readonly statementMs: number;
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
    // JIT takes longer than the short statements. The default page cost makes plans read whole tables that have grown.
    options: '-c jit=off -c random_page_cost=1.1',
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // Connections are replaced, because the host name may resolve to another server after a failover.
    maxLifetimeSeconds: 600,
  };
}

/** Settings for migrations and commands: without a time limit, because a change of a large table may take long. */
export function patientConnection(url: string, application_name: string): PoolConfig {
  return { connectionString: withLibpqMeaning(url), application_name, max: 2 };
}

/** Gives `sslmode` the meaning that it has in libpq. Its meaning in node-pg is stricter than operators expect. */
function withLibpqMeaning(url: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.toString();
}

const HUNG = 'Query read timeout';

/** Closes itself if the server hangs (node-pg ends only the query), or if the server became a read-only standby. */
export class ServiceClient extends Client {
  private latest: Promise<unknown> = Promise.resolve();
  private underWay = 0;

  constructor(config?: PoolConfig) {
    super(config);
    // While the pool hands the connection out, no other listener exists, and an error event would end the process.
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

  /** Concurrent parts of a transaction share the connection, so a statement waits while another statement runs. */
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

/** Query with the span of its caller, because the caller that releases the awaited connection sends the query. */
export interface TracedQuery extends QueryConfig<unknown[]> {
  readonly span?: Span | undefined;
}

const FIRST_WORD = /^\s*([a-z]{1,20})\b/i;

/** Begins a trace span for a statement of a request or job. The span omits the values. Polling loops get no spans. */
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
