import { Client, type ClientConfig, type PoolConfig } from 'pg';
import type { Settings } from '../config/settings.js';
import { codeOf, type Span } from '../tracing/tracing.js';
import { isConnectionLost, SQLSTATE, sqlStateOf } from './sqlstate.js';
import { beginStatement } from './traced-statements.js';

/** A server that hangs does not even end a statement in time: the client gives up this much later. */
const READ_GRACE_MS = 1_000;

/** How every connection of the service is made. */
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
    keepAlive: true,
    idleTimeoutMillis: 30_000,
    // After a failover the host name may lead to another server, so no connection is kept for ever.
    maxLifetimeSeconds: 600,
  };
}

/** For migrations: few connections, and no time limit, because the migration of a large table may take long. */
export function patientConnectionOptions(url: string): PoolConfig {
  return {
    connectionString: withLibpqMeaning(url),
    application_name: 'incident-triage-service',
    max: 2,
  };
}

/** For commands that an operator runs: without a time limit as well, and with a name of their own in pg_stat_activity. */
export function commandConnection(url: string): PoolConfig {
  return { ...patientConnectionOptions(url), application_name: 'incident-triage-command' };
}

/** `sslmode` keeps the meaning that it has for libpq; node-pg alone would read it more strictly than operators expect. */
export function withLibpqMeaning(url: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.toString();
}

/** Rejects when the server lets nobody in now. */
export async function tryToConnect(connection: PoolConfig): Promise<void> {
  const client = new ServiceClient(connection);
  await client.connect();
  // Not waited for: a server that hangs never says goodbye.
  client.end().catch(() => undefined);
}

/** Is told of every attempt to connect, and of a connection that broke in a statement: see ServicePool. */
export interface Connecting {
  attemptBegins(): void;
  attemptEnds(error: unknown): void;
  broke(error: Error): void;
}

/** The message of node-pg when `query_timeout` has passed. */
const HUNG = 'Query read timeout';

/**
 * A connection that closes itself when it has become useless. Either its server process hangs: node-pg gives up the query,
 * but the pool would hand out the same connection again. Or the server became a read-only standby in a failover.
 */
class ServiceClient extends Client {
  private readonly connecting: Connecting | undefined;

  constructor(config?: ClientConfig & { readonly connecting?: Connecting }) {
    super(config);
    this.connecting = config?.connecting;
    // One that ends in the moment in which the pool hands it out has no other listener, and would end the process.
    this.on('error', () => undefined);
  }

  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    if (!callback) return super.connect();
    this.connecting?.attemptBegins();
    super.connect((error: Error) => {
      this.connecting?.attemptEnds(error);
      callback(error);
    });
  }

  override query = ((...args: unknown[]): unknown => {
    const last = args.at(-1);
    const span = beginStatement(args[0]);
    if (typeof last === 'function') {
      const callback = last as (error: unknown, result: unknown) => void;
      args[args.length - 1] = (error: unknown, result: unknown): void => {
        this.ended(span, error);
        callback(error, result);
      };
      return this.send(...args);
    }
    const answer = this.send(...args);
    if (answer instanceof Promise) {
      answer.then(
        () => span?.end(),
        (error: unknown) => this.ended(span, error),
      );
    }
    return answer;
  }) as Client['query'];

  private send(...args: unknown[]): unknown {
    return (super.query as (...all: unknown[]) => unknown).apply(this, args);
  }

  private ended(span: Span | undefined, error: unknown): void {
    span?.end(error ? codeOf(error) : undefined);
    this.closeIfUseless(error);
  }

  private closeIfUseless(error: unknown): void {
    if (!error) return;
    const hung = error instanceof Error && error.message === HUNG;
    if (hung || sqlStateOf(error) === SQLSTATE.readOnlyTransaction) {
      (
        this as unknown as { connection: { stream: { destroy(): void } } }
      ).connection.stream.destroy();
    } else if (error instanceof Error && isConnectionLost(error)) {
      this.connecting?.broke(error);
    }
  }
}
