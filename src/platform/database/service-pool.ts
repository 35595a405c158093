import { Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Connecting } from './connection.js';
import { isConnectionLost, SQLSTATE, sqlStateOf } from './sqlstate.js';

/** For how long a server that let in no more is not asked for another connection. */
const CLOSED_FOR_MS = 1_000;
const TOLD_EVERY_MS = 60_000;

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: PoolClient['release'],
) => void;

/**
 * When the server lets in no more connections, it goes on with those that it has: who would have got a new one waits for
 * one to be free, as with a full pool, instead of an error. A pool without any connection has nothing to wait for.
 */
export class ServicePool extends Pool implements Connecting {
  /** Called at most once a minute, with the number of connections that it goes on with. */
  onFull: (connections: number) => void = () => undefined;
  /** Called before whoever waits for the connection, or for the answer, gets the error. */
  onUnreachable: (error: unknown) => void = () => undefined;
  onBroken: (error: Error) => void = () => undefined;
  private readonly most: number;
  private underWay = 0;
  private closedUntil = 0;
  private toldAt = -Infinity;

  constructor(config: PoolConfig) {
    super(config);
    this.most = this.options.max;
    Object.assign(this.options, { connecting: this });
  }

  attemptBegins(): void {
    this.underWay += 1;
  }

  /** Before the pool knows of it, so that it does not try at once for the next who waits. */
  attemptEnds(error: unknown): void {
    this.underWay -= 1;
    if (isConnectionLost(error)) this.onUnreachable(error);
    if (sqlStateOf(error) !== SQLSTATE.tooManyConnections) return;
    // The refused one still counts.
    const connected = this.totalCount - this.underWay - 1;
    if (connected < 1) return;
    const now = performance.now();
    this.options.max = connected;
    this.closedUntil = now + CLOSED_FOR_MS;
    if (now < this.toldAt + TOLD_EVERY_MS) return;
    this.toldAt = now;
    this.onFull(connected);
  }

  broke(error: Error): void {
    this.onBroken(error);
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | void {
    const connecting = this.connectPatiently();
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, (error) => client.release(error)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }

  private async connectPatiently(): Promise<PoolClient> {
    const deadline = performance.now() + (this.options.connectionTimeoutMillis ?? 0);
    for (;;) {
      const now = performance.now();
      if (now >= this.closedUntil) this.options.max = this.most;
      try {
        return await super.connect();
      } catch (error) {
        const isFull = sqlStateOf(error) === SQLSTATE.tooManyConnections;
        if (!isFull || this.options.max === this.most || now >= deadline) throw error;
      }
    }
  }
}
