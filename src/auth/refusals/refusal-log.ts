import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transactions.js';

const MINUTE = 60_000;
/**
 * Rows in a minute, on each replica. A site has a limited number of principals and users, so that each has a share of
 * its own. Strangers may have any number of addresses: they share one limit. No kind of refusals leaves another without
 * a row.
 */
const MOST_OF_ONE = { principal: 60, account: 20, stranger: 20 } as const;
const MOST_OF_STRANGERS = 300;

export interface Refusal {
  readonly entry: AuditEntry;
  /**
   * Whose share of the rows it takes: that of a principal who may not do something, of the user whose account somebody
   * tried, or of a stranger.
   */
  readonly by: 'principal' | 'account' | 'stranger';
  /** The name of the principal, of the user, or the network of the stranger's address. */
  readonly name: string;
}

interface RepeatedRefusal {
  readonly refusal: Refusal;
  repeated: number;
}

const SUBJECTS = { principal: 'principal', account: 'user', stranger: 'address' } as const;

interface UnwrittenCount {
  readonly action: AuditEntry['action'];
  readonly subject: AuditEntry['subject'];
  count: number;
  from: number;
  to: number;
}

/** How many refusals of each kind were not written, and between which times. */
class UnwrittenRefusals {
  private readonly counts = new Map<string, UnwrittenCount>();

  /** When it is not `named`, only the number is recorded: there is no limit to the names of strangers. */
  add({ entry, by, name }: Refusal, named: boolean, at: Date, times = 1): void {
    const subject = { type: SUBJECTS[by], id: named ? name : 'several' };
    this.merge({ action: entry.action, subject, count: times, from: +at, to: +at });
  }

  addAll(other: UnwrittenRefusals): void {
    for (const count of other.counts.values()) this.merge(count);
  }

  entries(): AuditEntry[] {
    return [...this.counts.values()].map(({ action, subject, count, from, to }) => ({
      actor: 'system',
      action: 'auth.refusals_counted',
      subject,
      details: {
        refusals: action,
        left_out: count,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      },
    }));
  }

  private merge(added: UnwrittenCount): void {
    const kind = `${added.action} ${added.subject.type} ${added.subject.id}`;
    const known = this.counts.get(kind);
    if (!known) {
      this.counts.set(kind, { ...added });
      return;
    }
    known.count += added.count;
    known.from = Math.min(known.from, added.from);
    known.to = Math.max(known.to, added.to);
  }
}

/** What happened in the present minute. */
class Minute {
  readonly repeated = new Map<string, RepeatedRefusal>();
  readonly unwritten = new UnwrittenRefusals();
  private readonly rows = new Map<string, number>();
  private strangers = 0;

  /** Takes one row from the share; false when the share is used up. */
  takeRow({ by, name }: Refusal): boolean {
    const share = `${by} ${name}`;
    const rows = this.rows.get(share) ?? 0;
    if (rows === MOST_OF_ONE[by]) return false;
    if (by === 'stranger') {
      if (this.strangers === MOST_OF_STRANGERS) return false;
      this.strangers += 1;
    }
    this.rows.set(share, rows + 1);
    return true;
  }

  hasRows({ by, name }: Refusal): boolean {
    return this.rows.has(`${by} ${name}`);
  }
}

/**
 * Writes refusals into the audit trail, and never so many that they hide what else is in it. The first of a kind is
 * written at once; how often it was repeated within the minute is one row at the end of the minute. Refusals beyond
 * the limits, or while the database takes no rows, are counted, and their number is written.
 */
@Injectable()
export class RefusalLog implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(RefusalLog.name);
  private readonly insertsUnderWay = new Set<Promise<boolean>>();
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
    await Promise.all(this.insertsUnderWay);
    await this.closeMinute();
  }

  /** Each refusal is a row of its own, as long as its share lasts. */
  async write(refusal: Refusal): Promise<void> {
    if (this.minute.takeRow(refusal)) await this.record(refusal);
    else this.addUnwritten(refusal);
  }

  /** Refusals of one kind are one row, and one more with the number of their repetitions. */
  async count(refusal: Refusal): Promise<void> {
    const { action, subject, details } = refusal.entry;
    const kind = JSON.stringify([action, refusal.name, subject.id, details?.['reason']]);
    const known = this.minute.repeated.get(kind);
    if (known) {
      known.repeated += 1;
      return;
    }
    if (!this.minute.takeRow(refusal)) {
      this.addUnwritten(refusal);
      return;
    }
    this.minute.repeated.set(kind, { refusal, repeated: 0 });
    await this.record(refusal);
  }

  private addUnwritten(refusal: Refusal): void {
    this.minute.unwritten.add(refusal, this.minute.hasRows(refusal), this.clock.now());
  }

  private async record(refusal: Refusal): Promise<void> {
    const writing = this.insert([refusal.entry]);
    this.insertsUnderWay.add(writing);
    const written = await writing.finally(() => this.insertsUnderWay.delete(writing));
    if (!written) this.addUnwritten(refusal);
  }

  private async closeMinute(): Promise<void> {
    const { repeated, unwritten } = this.minute;
    this.minute = new Minute();
    const repetitions = [...repeated.values()].filter((one) => one.repeated > 0);
    const entries = [...repetitions.map(repetitionEntry), ...unwritten.entries()];
    if (entries.length === 0 || (await this.insert(entries))) return;
    // The rows of the next minute include them.
    this.minute.unwritten.addAll(unwritten);
    for (const one of repetitions) {
      this.minute.unwritten.add(one.refusal, true, this.clock.now(), one.repeated);
    }
  }

  /** False when it failed. The caller is refused all the same. */
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

function repetitionEntry({ refusal: { entry }, repeated }: RepeatedRefusal): AuditEntry {
  return { ...entry, details: { ...entry.details, repeated } };
}
