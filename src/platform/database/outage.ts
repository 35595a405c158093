import { setTimeout as sleep } from 'node:timers/promises';
import { sqlStateOf, SQLSTATE } from './sqlstate.js';

const RETRY_MS = 1_000;

/** `error` is set if the line reports a problem. */
export type Log = (line: string, error?: unknown) => void;

/** The outages and read-only times that the log reports, or is about to. Process-wide, because there is one database. */
const reported = new Set<object>();

/** Whether the log already reports that the database is unreachable or read-only, or is about to. */
export function isOutageLogged(): boolean {
  return reported.size > 0;
}

/** Logs once that the database became unreachable, before callers log their own errors, and once that it is back. */
export class Outage {
  private since?: number;
  private told = false;
  private ignored = false;

  /** @param connect rejects if no connection is possible */
  constructor(
    private readonly log: Log,
    private readonly connect: () => Promise<void>,
  ) {}

  /** A connection broke. A new attempt, made at once, shows whether this is an outage. */
  lost(error: Error): void {
    if (this.ignored || this.since !== undefined) return;
    this.begin();
    void this.refusal().then((refusal) => {
      if (refusal === undefined) this.wasOnly(error);
      else this.unreachable(refusal);
    });
  }

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

  /** Stops logging, because the service stops. */
  ignore(): void {
    this.ignored = true;
    this.end();
  }

  /** Checks for the end of the outage itself, because the pool may not need a new connection for long. */
  private async untilConnected(): Promise<void> {
    const { since } = this;
    while (this.since === since) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (this.since === since && (await this.refusal()) === undefined) this.connected();
    }
  }

  /** Why no connection is possible; `undefined` if one is. */
  private async refusal(): Promise<unknown> {
    try {
      await this.connect();
      return undefined;
    } catch (error) {
      // A server that refuses more connections is reachable.
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
    reported.add(this);
  }

  private end(): void {
    this.since = undefined;
    this.told = false;
    reported.delete(this);
  }
}

/** Logs once that the database became read-only, before callers log their own errors, and once that it is writable. */
export class ReadOnlyTime {
  private since?: number;
  private ignored = false;

  /** @param isReadOnly asks on a new connection; rejects if none is possible, which Outage reports */
  constructor(
    private readonly log: Log,
    private readonly isReadOnly: () => Promise<boolean>,
  ) {}

  /** The database refused to write on a connection, which the service drops. Others may lead to a writable server. */
  refused(error: unknown): void {
    if (this.ignored || this.since !== undefined) return;
    this.since = performance.now();
    reported.add(this);
    void this.untilWritable(this.since, error);
  }

  /** Stops logging, because the service stops. */
  ignore(): void {
    this.ignored = true;
    this.end();
  }

  private async untilWritable(since: number, error: unknown): Promise<void> {
    let told = false;
    for (;;) {
      const readOnly = await this.isReadOnly().catch(() => undefined);
      if (this.since !== since) return;
      if (readOnly === false) break;
      if (readOnly && !told) {
        told = true;
        this.log('The database is read-only.', error);
      }
      await sleep(RETRY_MS, undefined, { ref: false });
    }
    this.end();
    const seconds = Math.round((performance.now() - since) / 1000);
    this.log(
      told
        ? `The database is writable again after ${seconds} s.`
        : 'A read-only database connection was replaced.',
    );
  }

  private end(): void {
    this.since = undefined;
    reported.delete(this);
  }
}
