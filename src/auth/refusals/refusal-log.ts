import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Transactions } from '../../database/transactions.js';

const MINUTE = 60_000;
/** Per minute and replica. Whoever is refused must not be able to fill the record; more than these are only counted. */
const MOST_ROWS = 600;

interface Counted {
  readonly entry: AuditEntry;
  repeated: number;
}

/**
 * Refusals in the audit record. The first of a kind is written at once, its repetitions within the minute as one row
 * with their number at the end of it.
 */
@Injectable()
export class RefusalLog implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RefusalLog.name);
  private readonly counted = new Map<string, Counted>();
  private rows = 0;
  private unwritten = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.closeMinute(), MINUTE).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.closeMinute();
  }

  /** For what is limited anyway: each is written. */
  async write(entry: AuditEntry): Promise<void> {
    this.rows += 1;
    if (this.rows > MOST_ROWS) this.unwritten += 1;
    else await this.record([entry]);
  }

  async count(entry: AuditEntry): Promise<void> {
    const kind = `${entry.action} ${entry.actor} ${entry.subject.id}`;
    const known = this.counted.get(kind);
    if (known) {
      known.repeated += 1;
      return;
    }
    if (this.counted.size < MOST_ROWS) this.counted.set(kind, { entry, repeated: 0 });
    await this.write(entry);
  }

  private async closeMinute(): Promise<void> {
    const repeated = [...this.counted.values()]
      .filter((one) => one.repeated > 0)
      .map(({ entry, repeated }) => ({ ...entry, details: { ...entry.details, repeated } }));
    const rest = this.unwritten;
    this.counted.clear();
    this.rows = 0;
    this.unwritten = 0;
    if (rest > 0) repeated.push(summaryOf(rest));
    if (repeated.length > 0) await this.record(repeated);
  }

  /** The refusal stands whether or not it could be written down. */
  private async record(entries: readonly AuditEntry[]): Promise<void> {
    try {
      await this.transactions.run((tx) => this.audit.recordAll(tx, entries));
    } catch (error) {
      this.logger.error({ err: error, refusals: entries }, 'Refusals could not be audited.');
    }
  }
}

function summaryOf(repeated: number): AuditEntry & { readonly details: { repeated: number } } {
  return {
    actor: 'system',
    action: 'auth.refusals_counted',
    subject: { type: 'address', id: 'several' },
    details: { repeated },
  };
}
