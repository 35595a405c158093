import {
  Injectable,
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../../platform/addresses/network.js';
import { routeOf } from '../../platform/http/known-routes.js';
import {
  type CallerRefusal,
  type StrangerRefusal,
  CallerRefusedError,
  StrangerRefusedError,
} from '../auth.errors.js';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import type { AuditEntry } from '../../audit/audit-entry.js';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transactions.js';

const MINUTE = 60_000;
/**
 * Maximum rows per minute and replica. Each principal and each user has its own share, because their number is limited.
 * Strangers share one limit, because their number is not.
 */
const MOST_OF_ONE = { principal: 60, account: 20, stranger: 20 } as const;
const MOST_OF_STRANGERS = 300;

export interface Refusal {
  readonly entry: AuditEntry;
  /**
   * Whose share of rows is used: of a principal without permission, of the user whose account was tried, or of
   * strangers.
   */
  readonly by: 'principal' | 'account' | 'stranger';
  /** Name of the principal or user, or the network of the stranger. */
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

/** Number of omitted refusals by kind, with first and last time. */
class UnwrittenRefusals {
  private readonly counts = new Map<string, UnwrittenCount>();

  /** If not `named`, only the number is recorded, because the names of strangers are unlimited. */
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

/** Refusals of the current minute. */
class Minute {
  readonly repeated = new Map<string, RepeatedRefusal>();
  readonly unwritten = new UnwrittenRefusals();
  private readonly rows = new Map<string, number>();
  private strangers = 0;

  /** Takes one row from the share; `false` if the share is used up. */
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
 * Writes refusals into the audit trail without flooding it. The first refusal of a kind is written at once, the number
 * of its repetitions at the end of the minute. Refusals beyond the limits, or during a database outage, are counted,
 * and the number is written.
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

  /** Writes one row per refusal while the share lasts. */
  async write(refusal: Refusal): Promise<void> {
    if (this.minute.takeRow(refusal)) await this.record(refusal);
    else this.addUnwritten(refusal);
  }

  /** Writes one row for the first refusal of a kind, and one for the number of repetitions. */
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

  /** `false` if the insert failed. The caller is refused in any case. */
  private async insert(entries: readonly AuditEntry[]): Promise<boolean> {
    try {
      await this.transactions.run((tx) => this.audit.record(tx, ...entries));
      return true;
    } catch (error) {
      this.logger.error(
        { err: error, refusals: entries },
        'Refusals could not be written to the audit trail.',
      );
      return false;
    }
  }
}

function repetitionEntry({ refusal: { entry }, repeated }: RepeatedRefusal): AuditEntry {
  return { ...entry, details: { ...entry.details, repeated } };
}

/** Actor of unknown callers in the audit trail. User names have no colon, so there is no conflict. */
const actorAt = (address: string): string => `address:${address}`;

/** Records refusals in the audit trail. */
@Injectable()
export class Refusals {
  constructor(private readonly log: RefusalLog) {}

  /** Unknown caller: nothing of the request is stored. */
  ofStranger(refusal: StrangerRefusal, { ip }: FastifyRequest): void {
    this.ofAddress(refusal, ip);
  }

  /** Known caller without permission. */
  async ofCaller(refusal: CallerRefusal, request: FastifyRequest): Promise<void> {
    const { action, actor } = refusal;
    const subject = { type: 'route', id: shownRoute(request) };
    const details = { ...refusal.details, address: request.ip };
    await this.log.count({
      entry: { actor, action, subject, details },
      by: 'principal',
      name: actor,
    });
  }

  /** `username` is set only if the user exists, because people may type a password into that field. */
  async login(address: string, username: string | undefined, reason: string): Promise<void> {
    const entry = {
      actor: actorAt(address),
      action: 'auth.login_failed',
      subject: { type: 'user', id: username ?? 'unknown' },
      details: { reason },
    } as const;
    await this.log.write(
      username === undefined
        ? { entry, by: 'stranger', name: networkOf(address) }
        : { entry, by: 'account', name: username },
    );
  }

  loginLimit(address: string): void {
    this.ofAddress({ action: 'auth.login_limited' }, address);
  }

  /** One record for all addresses that guess at an account, because each guess may come from another address. */
  accountLimit(username: string | undefined): void {
    const subject = { type: 'user', id: username ?? 'unknown' };
    const entry = { actor: 'system', action: 'auth.login_limited', subject } as const;
    const by = username === undefined ? 'stranger' : 'account';
    void this.log.count({ entry, by, name: subject.id });
  }

  /** The response does not wait for the record. */
  private ofAddress({ subject, ...refusal }: StrangerRefusal, address: string): void {
    const network = networkOf(address);
    const entry = {
      ...refusal,
      actor: actorAt(network),
      subject: subject ?? { type: 'address', id: network },
    };
    void this.log.count({ entry, by: 'stranger', name: network });
  }
}

function shownRoute(request: FastifyRequest): string {
  return `${request.method} ${routeOf(request) ?? 'unknown'}`;
}

/**
 * Turns refusals of guards, services and transactions into audit records. They throw and need not know the request.
 * PasswordThrottle records failed logins, because it knows the reason.
 */
@Injectable()
@Catch(CallerRefusedError, StrangerRefusedError)
export class RefusalFilter implements ExceptionFilter {
  private readonly answers = new ErrorFilter();

  constructor(private readonly refusals: Refusals) {}

  /**
   * A known caller gets the response after the record is written, a stranger before. A record that cannot be written is
   * logged.
   */
  async catch(
    error: CallerRefusedError | StrangerRefusedError,
    host: ArgumentsHost,
  ): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    if (error instanceof CallerRefusedError) await this.refusals.ofCaller(error.refusal, request);
    else this.refusals.ofStranger(error.refusal, request);
    this.answers.catch(error, host);
  }
}
