import { Client } from 'pg';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';

const HUNG = 'Query read timeout';

/**
 * A connection that closes itself when it is of no more use: its server process hangs (node-pg gives the query up but
 * would hand the same connection out again), or became a read-only standby in a failover.
 */
export class ServiceClient extends Client {
  override query = ((...args: unknown[]): unknown => {
    const last = args.at(-1);
    if (typeof last === 'function') {
      const callback = last as (error: unknown, result: unknown) => void;
      args[args.length - 1] = (error: unknown, result: unknown): void => {
        this.closeIfUseless(error);
        callback(error, result);
      };
      return this.send(...args);
    }
    const answer = this.send(...args);
    if (answer instanceof Promise) answer.catch((error: unknown) => this.closeIfUseless(error));
    return answer;
  }) as Client['query'];

  private send(...args: unknown[]): unknown {
    return (super.query as (...all: unknown[]) => unknown).apply(this, args);
  }

  private closeIfUseless(error: unknown): void {
    if (!error) return;
    const hung = error instanceof Error && error.message === HUNG;
    if (hung || sqlStateOf(error) === SQLSTATE.readOnlyTransaction) {
      (
        this as unknown as { connection: { stream: { destroy(): void } } }
      ).connection.stream.destroy();
    }
  }
}
