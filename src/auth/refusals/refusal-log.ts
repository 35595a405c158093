import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transactions.js';
import { LeftOut } from './left-out.js';
import type { Refusal } from './refusal.js';

const MINUTE = 60_000;
/**
 * Rows per minute and replica. Principals and users are as many as the site has, so that each has a share of its own;
 * strangers, whose addresses are without end, have one together. Nobody's refusals crowd out those of another kind.
 */
const MOST_OF_ONE = { principal: 60, account: 20, stranger: 20 } as const;
const MOST_OF_STRANGERS = 300;

interface Counted {
  readonly refusal: Refusal;
  repeated: number;
}

class Minute {
  readonly counted = new Map<string, Counted>();
  readonly leftOut = new LeftOut();
  private readonly rows = new Map<string, number>();
  private strangers = 0;

  /** Whether one more row may be written, which it then has to be. */
  take({ by, name }: Refusal): boolean {
    const account = `${by} ${name}`;
    const rows = this.rows.get(account) ?? 0;
    if (rows === MOST_OF_ONE[by]) return false;
    if (by === 'stranger') {
      if (this.strangers === MOST_OF_STRANGERS) return false;
      this.strangers += 1;
    }
    this.rows.set(account, rows + 1);
    return true;
  }

  hasRows({ by, name }: Refusal): boolean {
    return this.rows.has(`${by} ${name}`);
  }
}

/**
 * Refusals in the audit record. The first of a kind is written at once, its repetitions within the minute as one row
 * with their number at the end of it. What could not be written is counted, and its number is written.
 */
@Injectable()
export class RefusalLog implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RefusalLog.name);
  private readonly underWay = new Set<Promise<boolean>>();
  private minute = new Minute();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.closeMinute(), MINUTE).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.underWay);
    await this.closeMinute();
  }

  /** Each by itself, as far as the share of its name goes. */
  async write(refusal: Refusal): Promise<void> {
    if (this.minute.take(refusal)) await this.record(refusal);
    else this.leaveOut(refusal);
  }

  async count(refusal: Refusal): Promise<void> {
    const { action, subject } = refusal.entry;
    const kind = `${action} ${refusal.name} ${subject.id}`;
    const known = this.minute.counted.get(kind);
    if (known) {
      known.repeated += 1;
      return;
    }
    if (!this.minute.take(refusal)) {
      this.leaveOut(refusal);
      return;
    }
    this.minute.counted.set(kind, { refusal, repeated: 0 });
    await this.record(refusal);
  }

  private leaveOut(refusal: Refusal): void {
    this.minute.leftOut.add(refusal, this.minute.hasRows(refusal), this.clock.now());
  }

  private async record(refusal: Refusal): Promise<void> {
    const writing = this.insert([refusal.entry]);
    this.underWay.add(writing);
    const written = await writing.finally(() => this.underWay.delete(writing));
    if (!written) this.leaveOut(refusal);
  }

  private async closeMinute(): Promise<void> {
    const { counted, leftOut } = this.minute;
    this.minute = new Minute();
    const repeated = [...counted.values()].filter((one) => one.repeated > 0);
    const entries = [...repeated.map(repeatedEntry), ...leftOut.entries()];
    if (entries.length === 0 || (await this.insert(entries))) return;
    // The next minute tells of them, too.
    this.minute.leftOut.addAll(leftOut);
    for (const one of repeated) {
      this.minute.leftOut.add(one.refusal, true, this.clock.now(), one.repeated);
    }
  }

  /** False when it failed: the refusal stands whether or not it could be written down. */
  private async insert(entries: readonly AuditEntry[]): Promise<boolean> {
    try {
      await this.transactions.run((tx) => this.audit.recordAll(tx, entries));
      return true;
    } catch (error) {
      this.logger.error({ err: error, refusals: entries }, 'Refusals could not be audited.');
      return false;
    }
  }
}

function repeatedEntry({ refusal: { entry }, repeated }: Counted): AuditEntry {
  return { ...entry, details: { ...entry.details, repeated } };
}
