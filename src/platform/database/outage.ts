import { setTimeout as sleep } from 'node:timers/promises';
import { sqlStateOf, SQLSTATE } from './sqlstate.js';

const RETRY_MS = 1_000;

/** `error` is there when something is wrong. */
export type Log = (line: string, error?: unknown) => void;

let away = false;

/**
 * Whether the log says, or says in a moment, that the database cannot be reached: then nobody else has to. Of the whole
 * process, as there is one database.
 */
export function isOutageTold(): boolean {
  return away;
}

/** Says once that the database went away, before whatever waits for it can, and once that it is back. */
export class Outage {
  private since?: number;
  private told = false;
  private ignored = false;

  /** @param connect rejects when no connection can be made now */
  constructor(
    private readonly log: Log,
    private readonly connect: () => Promise<void>,
  ) {}

  /** One connection broke: whether it is an outage shows when the next one is tried, which is done at once. */
  lost(error: Error): void {
    if (this.ignored || this.since !== undefined) return;
    this.begin();
    void this.refusal().then((refusal) => {
      if (refusal === undefined) this.wasOnly(error);
      else this.unreachable(refusal);
    });
  }

  /** No connection could be made. */
  unreachable(error: unknown): void {
    if (this.ignored || this.told) return;
    this.begin();
    this.told = true;
    this.log('The database cannot be reached.', error);
    void this.untilConnected();
  }

  connected(): void {
    if (!this.told || this.since === undefined) return;
    const seconds = Math.round((performance.now() - this.since) / 1000);
    this.end();
    this.log(`The database is back after ${seconds} s.`);
  }

  /** From now on nothing is said. */
  ignore(): void {
    this.ignored = true;
    this.end();
  }

  /** The pool may not need a new connection for long, and so not see that the outage is over. */
  private async untilConnected(): Promise<void> {
    const { since } = this;
    while (this.since === since) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (this.since === since && (await this.refusal()) === undefined) this.connected();
    }
  }

  /** Why no connection can be made now; undefined when one can. */
  private async refusal(): Promise<unknown> {
    try {
      await this.connect();
      return undefined;
    } catch (error) {
      // A server that lets in no more is there.
      return sqlStateOf(error) === SQLSTATE.tooManyConnections ? undefined : error;
    }
  }

  private wasOnly(error: Error): void {
    if (this.ignored || this.told) return;
    this.end();
    this.log(`A database connection was lost: ${error.message}`);
  }

  private begin(): void {
    this.since ??= performance.now();
    away = true;
  }

  private end(): void {
    this.since = undefined;
    this.told = false;
    away = false;
  }
}
