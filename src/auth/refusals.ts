import {
  Injectable,
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Logger,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AuditEntry } from '../audit/audit-entry.js';
import { AuditLog } from '../audit/audit-log.js';
import { networkOf } from '../platform/addresses/network.js';
import { Clock } from '../platform/clock.js';
import { Transactions } from '../platform/database/transactions.js';
import { ErrorFilter } from '../platform/http/answer.js';
import { routeOf } from '../platform/http/known-routes.js';
import { type Refusal, RefusedError } from './principal.js';

const MINUTE = 60_000;
/** Maximum rows per minute and replica for one principal, one attacked user or one network of strangers. */
const MOST_OF_ONE = 20;
const MOST_OF_STRANGERS = 300;
const STRANGERS = 'strangers';

/** Kind of the budget for rows. Budgets of strangers have the name of their network. */
type Budget = 'principal' | 'user' | 'address';

type Entry = Refusal & Pick<AuditEntry, 'actor'>;

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
 * Records refused requests, and answers them. Refusals beyond the budgets, or during a database outage, are only counted,
 * so that the trail is not flooded. `Passwords` itself records failed logins.
 */
@Injectable()
@Catch(RefusedError)
export class Refusals implements ExceptionFilter, OnApplicationShutdown {
  private readonly logger = new Logger(Refusals.name);
  private readonly answers = new ErrorFilter();
  private readonly writesUnderWay = new Set<Promise<void>>();
  private readonly rows = new Map<string, number>();
  private unwritten = new Map<string, Unwritten>();
  private readonly timer = setInterval(() => void this.closeMinute(), MINUTE).unref();

  constructor(
    private readonly transactions: Transactions,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.writesUnderWay);
    await this.closeMinute();
  }

  /** Responds to a known caller after the record is written, and to a stranger without this wait. */
  async catch(error: RefusedError, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const { actor, action, details } = error.refusal;
    if (actor === undefined) this.ofStranger(error.refusal, request.ip);
    else {
      const subject = { type: 'route', id: `${request.method} ${routeOf(request) ?? 'unknown'}` };
      const more = { ...details, address: request.ip };
      await this.write('principal', actor, { actor, action, subject, details: more });
    }
    this.answers.catch(error, host);
  }

  /** Records no content of a request of an unknown caller. The response does not wait for the record. */
  ofStranger(refusal: Omit<Refusal, 'actor'>, address: string): void {
    const network = networkOf(address);
    void this.write('address', network, { ...refusal, actor: actorAt(network) });
  }

  /** @param username only the name of an existing user, because people may type a password into this field */
  async ofLogin(refusal: Refusal, username: string | undefined, address?: string): Promise<void> {
    const entry = { ...refusal, actor: address === undefined ? 'system' : actorAt(address) };
    if (username !== undefined) return await this.write('user', username, entry);
    const network = address === undefined ? 'unknown' : networkOf(address);
    await this.write('address', network, { ...entry, subject: { type: 'user', id: 'unknown' } });
  }

  async write(budget: Budget, name: string, entry: Entry): Promise<void> {
    const writing = this.writeOrCount(budget, name, entry);
    this.writesUnderWay.add(writing);
    await writing;
    this.writesUnderWay.delete(writing);
  }

  private async writeOrCount(budget: Budget, name: string, entry: Entry): Promise<void> {
    const own = `${budget} ${name}`;
    const rowsOf = (key: string): number => this.rows.get(key) ?? 0;
    const isStranger = budget === 'address';
    const hasRow =
      rowsOf(own) < MOST_OF_ONE && !(isStranger && rowsOf(STRANGERS) >= MOST_OF_STRANGERS);
    if (hasRow) {
      for (const key of isStranger ? [own, STRANGERS] : [own]) this.rows.set(key, rowsOf(key) + 1);
      const subject = entry.subject ?? { type: budget, id: name };
      if (await this.insert([{ ...entry, subject }])) return;
    }
    const now = this.clock.now().toISOString();
    // If the budget has no row yet, only the count is recorded, without the name. Strangers can use any number of names.
    const subject = { type: budget, id: rowsOf(own) > 0 ? name : 'several' };
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
