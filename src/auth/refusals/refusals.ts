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
 * Maximum rows per minute and replica. Each principal and each user has a separate share, because their number is
 * limited. Strangers share one limit, because the number of strangers is unlimited.
 */
const MOST_OF_ONE = { principal: 20, account: 20, stranger: 20 } as const;
const MOST_OF_STRANGERS = 300;

export interface Refusal {
  readonly entry: AuditEntry;
  /**
   * Selects the share of rows: of a principal without permission, of the user whose account was tried, or of
   * strangers.
   */
  readonly by: 'principal' | 'account' | 'stranger';
  /** Name of the principal or user, or the network of the stranger. */
  readonly name: string;
}

const SUBJECTS = { principal: 'principal', account: 'user', stranger: 'address' } as const;

/** Refusals of the same kind that were not written: their number, first time and last time. */
interface Unwritten {
  readonly refusals: AuditEntry['action'];
  readonly subject: AuditEntry['subject'];
  readonly left_out: number;
  readonly from: string;
  readonly to: string;
}

/** Actor of unknown callers in the audit trail. User names contain no colon, so no user has this name. */
const actorAt = (address: string): string => `address:${address}`;

/**
 * Writes refusals into the audit trail without flooding it. Counts refusals beyond the limits or during a database
 * outage, and writes the count at the end of the minute.
 */
@Injectable()
export class Refusals implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  private readonly writesUnderWay = new Set<Promise<void>>();
  /** Rows of this minute by share. */
  private readonly rows = new Map<string, number>();
  private unwritten = new Map<string, Unwritten>();
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
    await Promise.all(this.writesUnderWay);
    await this.closeMinute();
  }

  /** Records a known caller without permission. */
  async ofCaller({ action, actor, details }: CallerRefusal, request: FastifyRequest) {
    const subject = { type: 'route', id: `${request.method} ${routeOf(request) ?? 'unknown'}` };
    const entry = { actor, action, subject, details: { ...details, address: request.ip } };
    await this.write({ entry, by: 'principal', name: actor });
  }

  /** Records an unknown caller without any content of the request. The response does not wait for the record. */
  ofStranger({ subject, ...refusal }: StrangerRefusal, address: string): void {
    const network = networkOf(address);
    const entry = {
      ...refusal,
      actor: actorAt(network),
      subject: subject ?? { type: 'address', id: network },
    };
    void this.write({ entry, by: 'stranger', name: network });
  }

  /** @param username only the name of an existing user, because people may type a password into this field */
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

  /** Omits the addresses, because each guess for the account may come from another address. */
  accountLimit(username: string | undefined): void {
    const subject = { type: 'user', id: username ?? 'unknown' };
    const entry = { actor: 'system', action: 'auth.login_limited', subject } as const;
    const by = username === undefined ? 'stranger' : 'account';
    void this.write({ entry, by, name: subject.id });
  }

  async write(refusal: Refusal): Promise<void> {
    const writing = this.writeOrCount(refusal).finally(() => this.writesUnderWay.delete(writing));
    this.writesUnderWay.add(writing);
    await writing;
  }

  private async writeOrCount({ entry, by, name }: Refusal): Promise<void> {
    const own = `${by} ${name}`;
    const shares: [share: string, most: number][] = [[own, MOST_OF_ONE[by]]];
    if (by === 'stranger') shares.push(['strangers', MOST_OF_STRANGERS]);
    const rowsOf = (share: string): number => this.rows.get(share) ?? 0;
    const hasRow = shares.every(([share, most]) => rowsOf(share) < most);
    if (hasRow) shares.forEach(([share]) => this.rows.set(share, rowsOf(share) + 1));
    // If the share has no row, only the number is recorded, because the number of stranger names is unlimited.
    const subject = { type: SUBJECTS[by], id: rowsOf(own) > 0 ? name : 'several' };
    if (hasRow && (await this.insert([entry]))) return;
    const now = this.clock.now().toISOString();
    this.addUnwritten({ refusals: entry.action, subject, left_out: 1, from: now, to: now });
  }

  private addUnwritten(added: Unwritten): void {
    const kind = JSON.stringify([added.refusals, added.subject]);
    const known = this.unwritten.get(kind) ?? { ...added, left_out: 0 };
    const times = [known.from, known.to, added.from, added.to].sort();
    const left_out = known.left_out + added.left_out;
    this.unwritten.set(kind, { ...known, left_out, from: times[0]!, to: times[3]! });
  }

  private async closeMinute(): Promise<void> {
    this.rows.clear();
    const unwritten = [...this.unwritten.values()];
    this.unwritten = new Map();
    const entries = unwritten.map(
      ({ subject, ...details }) =>
        ({ actor: 'system', action: 'auth.refusals_counted', subject, details }) as const,
    );
    if (entries.length === 0 || (await this.insert(entries))) return;
    // Written with the next minute.
    unwritten.forEach((one) => this.addUnwritten(one));
  }

  /** Returns `false` if the insert failed. The caller is refused in any case. */
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
 * Writes audit records for refusals by guards, services and transactions, so that these need not know the request.
 * `Passwords` records failed logins, because it knows the reason.
 */
@Injectable()
@Catch(CallerRefusedError, StrangerRefusedError)
export class RefusalFilter implements ExceptionFilter {
  private readonly answers = new ErrorFilter();

  constructor(private readonly refusals: Refusals) {}

  /**
   * Responds to a known caller after the record is written, and to a stranger before. A record that cannot be written
   * is logged.
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
