import type { Settings } from '../config/settings.js';
import { startEmbeddedPostgres, startOrJoin } from './embedded/embedded-postgres.js';

export interface Server {
  readonly url: string;
  /** URL of the role that owns the tables; equals `url` if there is only one role. */
  readonly ownerUrl: string;
  /** Describes for people where the data is. Never contains a password. */
  readonly place: string;
  stop(): Promise<void>;
}

/** @param join joins the embedded server of a running service, which is otherwise an error */
export async function reachServer(
  { databaseUrl, migrationDatabaseUrl, dataDir }: Settings,
  log: (line: string) => void,
  join = false,
): Promise<Server> {
  if (databaseUrl !== undefined) {
    const ownerUrl = migrationDatabaseUrl ?? databaseUrl;
    return { url: databaseUrl, ownerUrl, place: placeOf(databaseUrl), stop: async () => undefined };
  }
  const server = await (join ? startOrJoin : startEmbeddedPostgres)({ dataDir, log });
  return {
    url: server.url,
    ownerUrl: server.url,
    place: `embedded PostgreSQL, which keeps its data in ${server.cluster}`,
    stop: () => server.stop(),
  };
}

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  const host = hostname === '' ? 'a local socket' : `${hostname}:${port || '5432'}`;
  return `PostgreSQL at ${host}, database ${pathname.slice(1) || 'of the role'}`;
}
