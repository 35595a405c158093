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
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { networkOf } from '../platform/addresses/network.js';
import { Clock } from '../platform/clock.js';
import { Transactions } from '../platform/database/transactions.js';
import { ErrorFilter } from '../platform/http/answer.js';
import { routeOf } from '../platform/http/known-routes.js';
import { type Refusal, RefusedError } from './auth.errors.js';

const MINUTE = 60_000;
/** Maximum rows per minute and replica for one principal, one attacked account or one network of strangers. */
const MOST_OF_ONE = 20;
const MOST_OF_STRANGERS = 300;

const SUBJECT_TYPES = { principal: 'principal', account: 'user', stranger: 'address' } as const;
type Share = keyof typeof SUBJECT_TYPES;

type Entry = Omit<AuditEntry, 'subject'> & Partial<Pick<AuditEntry, 'subject'>>;

interface Unwritten {
  readonly refusals: AuditEntry['action'];
  readonly subject: AuditEntry['subject'];
  readonly left_out: number;
  readonly from: string;
  readonly to: string;
}

/** Actor of unknown callers in the audit trail. User names contain no colon, so no user has this name. */
const actorAt = (address: string): string => `address:${address}`;

/** Refusals beyond the limits, or during a database outage, are only counted, so that the trail is not flooded. */
@Injectable()
export class Refusals implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  private readonly writesUnderWay = new Set<Promise<void>>();
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

  async ofCaller(actor: string, { action, details }: Refusal, request: FastifyRequest) {
    const subject = { type: 'route', id: `${request.method} ${routeOf(request) ?? 'unknown'}` };
    const more = { ...details, address: request.ip };
    await this.write('principal', actor, { actor, action, subject, details: more });
  }

  /** Records no content of a request of an unknown caller. The response does not wait for the record. */
  ofStranger({ action, subject, details }: Refusal, address: string): void {
    const network = networkOf(address);
    const entry = { actor: actorAt(network), action, subject, details };
    void this.write('stranger', network, entry);
  }

  /** @param username only the name of an existing user, because people may type a password into this field */
  async ofLogin(address: string, username: string | undefined, reason: string): Promise<void> {
    const actor = actorAt(address);
    const entry = { actor, action: 'auth.login_failed', details: { reason } } as const;
    await this.ofAccount(username, networkOf(address), entry);
  }

  /** Records the limit without addresses, because each guess for the account may come from another address. */
  ofAccountLimit(username: string | undefined): void {
    void this.ofAccount(username, 'unknown', { actor: 'system', action: 'auth.login_limited' });
  }

  private async ofAccount(username: string | undefined, stranger: string, entry: Entry) {
    if (username !== undefined) return await this.write('account', username, entry);
    const subject = { type: 'user', id: 'unknown' };
    await this.write('stranger', stranger, { ...entry, subject });
  }

  async write(share: Share, name: string, entry: Entry): Promise<void> {
    const writing = this.writeOrCount(share, name, entry);
    this.writesUnderWay.add(writing);
    await writing;
    this.writesUnderWay.delete(writing);
  }

  private async writeOrCount(share: Share, name: string, entry: Entry): Promise<void> {
    const own = `${share} ${name}`;
    const limits: [key: string, most: number][] = [[own, MOST_OF_ONE]];
    if (share === 'stranger') limits.push(['strangers', MOST_OF_STRANGERS]);
    const rowsOf = (key: string): number => this.rows.get(key) ?? 0;
    const hasRow = limits.every(([key, most]) => rowsOf(key) < most);
    if (hasRow) limits.forEach(([key]) => this.rows.set(key, rowsOf(key) + 1));
    const type = SUBJECT_TYPES[share];
    const record = { ...entry, subject: entry.subject ?? { type, id: name } };
    if (hasRow && (await this.insert([record]))) return;
    const now = this.clock.now().toISOString();
    // If the share has no row yet, only the count is recorded, without the name. Strangers can use any number of names.
    const subject = { type, id: rowsOf(own) > 0 ? name : 'several' };
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
    unwritten.forEach((one) => this.addUnwritten(one));
  }

  private async insert(entries: readonly AuditEntry[]): Promise<boolean> {
    try {
      await this.transactions.run((tx) => this.audit.record(tx, ...entries));
      return true;
    } catch (err) {
      const message = 'Refusals could not be written to the audit trail.';
      this.logger.error({ err, refusals: entries }, message);
      return false;
    }
  }
}

/** Records refusals, so that other code need not know the request. `Passwords` itself records failed logins. */
@Injectable()
@Catch(RefusedError)
export class RefusalFilter implements ExceptionFilter {
  private readonly answers = new ErrorFilter();

  constructor(private readonly refusals: Refusals) {}

  /** Responds to a known caller after the record is written, and to a stranger without this wait. */
  async catch(error: RefusedError, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const { refusal } = error;
    if (refusal.actor === undefined) this.refusals.ofStranger(refusal, request.ip);
    else await this.refusals.ofCaller(refusal.actor, refusal, request);
    this.answers.catch(error, host);
  }
}
