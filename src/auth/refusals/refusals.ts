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
import { ErrorFilter } from '../../platform/http/answer.js';
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

const SUBJECTS = { principal: 'principal', account: 'user', stranger: 'address' } as const;

const shareOf = ({ by, name }: Refusal): string => `${by} ${name}`;

/** Number of refusals of a kind that were not written, with first and last time. */
interface Unwritten {
  readonly refusals: AuditEntry['action'];
  readonly subject: AuditEntry['subject'];
  readonly left_out: number;
  readonly from: string;
  readonly to: string;
}

const newMinute = () => ({
  /** Rows by share. */
  rows: new Map<string, number>(),
  repeated: new Map<string, { readonly refusal: Refusal; repeated: number }>(),
  unwritten: new Map<string, Unwritten>(),
});

/** Actor of unknown callers in the audit trail. User names have no colon, so there is no conflict. */
const actorAt = (address: string): string => `address:${address}`;

/**
 * Writes refusals into the audit trail without flooding it. The first refusal of a kind is written at once, the number
 * of its repetitions at the end of the minute. Refusals beyond the limits, or during a database outage, are counted,
 * and the number is written.
 */
@Injectable()
export class Refusals implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  private readonly insertsUnderWay = new Set<Promise<boolean>>();
  private minute = newMinute();
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

  /** Known caller without permission. */
  async ofCaller({ action, actor, details }: CallerRefusal, request: FastifyRequest) {
    const subject = { type: 'route', id: `${request.method} ${routeOf(request) ?? 'unknown'}` };
    const entry = { actor, action, subject, details: { ...details, address: request.ip } };
    await this.count({ entry, by: 'principal', name: actor });
  }

  /** Unknown caller: nothing of the request is stored. The response does not wait for the record. */
  ofStranger({ subject, ...refusal }: StrangerRefusal, address: string): void {
    const network = networkOf(address);
    const entry = {
      ...refusal,
      actor: actorAt(network),
      subject: subject ?? { type: 'address', id: network },
    };
    void this.count({ entry, by: 'stranger', name: network });
  }

  /** `username` is set only if the user exists, because people may type a password into that field. */
  async login(address: string, username: string | undefined, reason: string): Promise<void> {
    const entry = {
      actor: actorAt(address),
      action: 'auth.login_failed',
      subject: { type: 'user', id: username ?? 'unknown' },
      details: { reason },
    } as const;
    await this.write(
      username === undefined
        ? { entry, by: 'stranger', name: networkOf(address) }
        : { entry, by: 'account', name: username },
    );
  }

  /** One record for all addresses that guess at an account, because each guess may come from another address. */
  accountLimit(username: string | undefined): void {
    const subject = { type: 'user', id: username ?? 'unknown' };
    const entry = { actor: 'system', action: 'auth.login_limited', subject } as const;
    const by = username === undefined ? 'stranger' : 'account';
    void this.count({ entry, by, name: subject.id });
  }

  /** Writes one row per refusal while the share lasts. */
  async write(refusal: Refusal): Promise<void> {
    if (!this.takeRow(refusal)) return this.leaveOut(refusal);
    const writing = this.insert([refusal.entry]);
    this.insertsUnderWay.add(writing);
    const written = await writing.finally(() => this.insertsUnderWay.delete(writing));
    if (!written) this.leaveOut(refusal);
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
    if (this.hasRow(refusal)) this.minute.repeated.set(kind, { refusal, repeated: 0 });
    await this.write(refusal);
  }

  private sharesOf(refusal: Refusal): [share: string, most: number][] {
    const own: [string, number] = [shareOf(refusal), MOST_OF_ONE[refusal.by]];
    return refusal.by === 'stranger' ? [own, ['strangers', MOST_OF_STRANGERS]] : [own];
  }

  private hasRow(refusal: Refusal): boolean {
    return this.sharesOf(refusal).every(([share, most]) => this.rowsOf(share) < most);
  }

  /** Takes one row from the share; `false` if the share is used up. */
  private takeRow(refusal: Refusal): boolean {
    if (!this.hasRow(refusal)) return false;
    for (const [share] of this.sharesOf(refusal)) {
      this.minute.rows.set(share, this.rowsOf(share) + 1);
    }
    return true;
  }

  private rowsOf(share: string): number {
    return this.minute.rows.get(share) ?? 0;
  }

  /** Without a row of its own only the number is recorded, because the names of strangers are unlimited. */
  private leaveOut(refusal: Refusal, times = 1, named = this.rowsOf(shareOf(refusal)) > 0): void {
    const now = this.clock.now().toISOString();
    const subject = { type: SUBJECTS[refusal.by], id: named ? refusal.name : 'several' };
    const { action: refusals } = refusal.entry;
    this.addUnwritten({ refusals, subject, left_out: times, from: now, to: now });
  }

  private addUnwritten(added: Unwritten): void {
    const kind = JSON.stringify([added.refusals, added.subject]);
    const known = this.minute.unwritten.get(kind) ?? { ...added, left_out: 0 };
    const times = [known.from, known.to, added.from, added.to].sort();
    const left_out = known.left_out + added.left_out;
    this.minute.unwritten.set(kind, { ...known, left_out, from: times[0]!, to: times[3]! });
  }

  private async closeMinute(): Promise<void> {
    const repeated = [...this.minute.repeated.values()].filter((one) => one.repeated > 0);
    const unwritten = [...this.minute.unwritten.values()];
    this.minute = newMinute();
    const entries = [
      ...repeated.map(({ refusal: { entry }, repeated: times }) => {
        return { ...entry, details: { ...entry.details, repeated: times } };
      }),
      ...unwritten.map(({ subject, ...details }) => {
        return { actor: 'system', action: 'auth.refusals_counted', subject, details } as const;
      }),
    ];
    if (entries.length === 0 || (await this.insert(entries))) return;
    // The rows of the next minute include them.
    unwritten.forEach((one) => this.addUnwritten(one));
    for (const { refusal, repeated: times } of repeated) this.leaveOut(refusal, times, true);
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
    else this.refusals.ofStranger(error.refusal, request.ip);
    this.answers.catch(error, host);
  }
}
