import { setTimeout as sleep } from 'node:timers/promises';
import { sqlStateOf, SQLSTATE } from './sqlstate.js';

const RETRY_MS = 1_000;

/** `error` is set if the line reports a problem. */
export type Log = (line: string, error?: unknown) => void;

/** The outages that the log reports, or is about to. Process-wide, because there is one database. */
const reported = new Set<Outage>();

/** Whether the log already reports that the database is unreachable or read-only, or is about to. */
export function isOutageLogged(): boolean {
  return reported.size > 0;
}

/**
 * Logs once that the database became unreachable or read-only, so that callers need not log their own errors, and once
 * that it is back.
 */
export class Outage {
  private since?: number;
  private isIgnored = false;

  /** @param isReadOnly asks on a new connection; rejects if none is possible */
  constructor(
    private readonly log: Log,
    private readonly isReadOnly: () => Promise<boolean>,
  ) {}

  /** A connection broke, was refused or cannot write. A new connection shows whether this is an outage. */
  suspect(error: unknown): void {
    if (this.isIgnored || this.since !== undefined) return;
    this.since = performance.now();
    reported.add(this);
    void this.untilBack(this.since, error);
  }

  /** Stops logging, because the service stops. */
  ignore(): void {
    this.isIgnored = true;
    this.end();
  }

  private async untilBack(since: number, first: unknown): Promise<void> {
    let logged: string | undefined;
    for (;;) {
      const problem = await this.findProblem(first);
      if (this.since !== since) return;
      if (!problem) break;
      if (problem.line !== logged) this.log(problem.line, problem.error);
      logged = problem.line;
      await sleep(RETRY_MS, undefined, { ref: false });
    }
    const seconds = Math.round((performance.now() - since) / 1000);
    this.end();
    this.log(
      logged
        ? `The database is back after ${seconds} s.`
        : `A database connection was lost: ${(first as Error).message}`,
    );
  }

  private async findProblem(first: unknown): Promise<{ line: string; error: unknown } | undefined> {
    try {
      if (!(await this.isReadOnly())) return undefined;
      return { line: 'The database is read-only.', error: first };
    } catch (error) {
      // A server that refuses more connections is reachable.
      if (sqlStateOf(error) === SQLSTATE.tooManyConnections) return undefined;
      return { line: 'The database cannot be reached.', error };
    }
  }

  private end(): void {
    this.since = undefined;
    reported.delete(this);
  }
}
