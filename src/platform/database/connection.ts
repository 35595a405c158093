import type { PoolConfig } from 'pg';
import type { Settings } from '../config/settings.js';
import { ServiceClient } from './service-client.js';

/** A hung server answers nothing, not even statement_timeout: the client gives up this much later. */
const READ_GRACE_MS = 1_000;

/**
 * How every connection of the service is made. `sslmode` keeps the meaning that it has for libpq, which node-pg would
 * otherwise read more strictly than operators expect.
 */
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
    // After a failover the name may lead elsewhere: no connection lives for ever.
    maxLifetimeSeconds: 600,
  };
}

/** For migrations: one connection after another, and no time limit, because a big table takes what it takes. */
export function patientConnectionOptions(url: string): PoolConfig {
  return {
    connectionString: withLibpqMeaning(url),
    application_name: 'incident-triage-service',
    max: 2,
  };
}

/** For what an operator runs by hand: as patient, and not to be taken for the service. */
export function commandConnection(url: string): PoolConfig {
  return { ...patientConnectionOptions(url), application_name: 'incident-triage-command' };
}

export function withLibpqMeaning(url: string): string {
  const parsed = new URL(url);
  parsed.searchParams.set('uselibpqcompat', 'true');
  return parsed.toString();
}
