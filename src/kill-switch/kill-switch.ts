// SQL: the read of every claim of an action, the advisory lock, and a read of a database that may be older.
import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { AuditLog } from '../audit/audit-log.js';
import { within } from '../platform/concurrency/within.js';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { columnsOf } from '../platform/database/columns.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import { SQLSTATE, sqlStateOf } from '../platform/database/sqlstate.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import { type Participant, type Tx, Transactions } from '../platform/database/transactions.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';
import type { RowOf } from '../platform/validation/present.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import type {
  HeldWorkDto,
  KillSwitchActivationDto,
  KillSwitchDeactivationDto,
  KillSwitchDeactivationRequestDto,
} from './kill-switch.dto.js';
import { Permit, PERMIT_MS, type Reclaim } from './permit.js';

@Entity('kill_switch')
export class KillSwitchEntity {
  @PrimaryColumn({ type: 'boolean', default: true })
  readonly only_row: boolean;

  @Column({ type: 'boolean', default: false })
  readonly active: boolean;

  @Column({ type: 'text', nullable: true })
  readonly reason: string | null;

  @Column({ type: 'text', nullable: true })
  readonly activated_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly activated_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly deactivated_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deactivated_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly deactivation_reason: string | null;
}

type KillSwitchState = Omit<KillSwitchEntity, 'only_row'>;

/** True if the work was rejected because the switch is on or unreadable. */
export function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}

/** Work of a module that the switch stops. */
interface HeldWork {
  inFlight?(): Promise<number>;
  count(): Promise<number>;
  discard(tx: Tx, caller: Caller): Promise<number>;
}

const COLUMNS = columnsOf(KillSwitchEntity, ['only_row']).join(', ');

const READ: Statement = { name: 'kill_switch_read', text: `select ${COLUMNS} from kill_switch` };

/** The keys are the ends of the names of the events. */
const CHANGES = {
  activated: {
    name: 'kill_switch_activate',
    text: `update kill_switch set active = true, reason = $1, activated_by = $2, activated_at = clock_timestamp(),
      deactivated_by = null, deactivated_at = null, deactivation_reason = null
    where not active returning ${COLUMNS}`,
  },
  deactivated: {
    name: 'kill_switch_deactivate',
    text: `update kill_switch set active = false, deactivation_reason = $1, deactivated_by = $2,
      deactivated_at = clock_timestamp()
    where active returning ${COLUMNS}`,
  },
} satisfies Record<string, Statement>;

/** Advisory lock, because shared locks of the row would starve changes of the switch. */
const LOCK_SHARED: Statement = {
  name: 'kill_switch_lock_shared',
  text: `select pg_advisory_xact_lock_shared(${AdvisoryLock.KillSwitch})`,
};

/** Maximum wait for claims, because a hanging process could hold the lock for minutes. */
const LOCK_PATIENCE_MS = 400;

/** An activation then responds without the number of calls in progress. */
const COUNT_PATIENCE_MS = 250;

/** Margin for early timers, and for the time between the last check of a permit and the write to the socket. */
const MARGIN_MS = 50;

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

type HeldCounts = RowOf<HeldWorkDto>;
type Activated = RowOf<KillSwitchActivationDto>;
type Deactivated = RowOf<KillSwitchDeactivationDto>;

/**
 * Issues permits for claims, and turns the switch on and off. Modules register their calls in progress and their waiting work.
 * After a deactivation, replicas find the waiting work by polling.
 */
@Injectable()
export class KillSwitch {
  private readonly logger = new Logger(KillSwitch.name);
  /** Permits by transaction. The lock of a permit prevents an activation until the transaction ends. */
  private readonly claimedIn = new WeakMap<Tx, Promise<Permit>>();
  private readonly held = new Map<keyof HeldCounts, HeldWork>();

  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly connections: ReservedConnections,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
  ) {}

  /**
   * Must run in the transaction of a claim. Throws AppError `kill_switch_active` if the switch is on. No activation commits
   * between this call and the commit of the transaction.
   */
  async claimPermit(tx: Tx): Promise<Permit> {
    const claimed = this.claimedIn.get(tx) ?? this.readOff(tx);
    this.claimedIn.set(tx, claimed);
    return await claimed;
  }

  /** Gate of a kind of work. Returns `undefined` if the switch is on. */
  async permitIfOff(tx: Tx): Promise<Permit | undefined> {
    return await this.claimPermit(tx).catch((error: unknown) => {
      if (isKillSwitchActive(error)) return undefined;
      throw error;
    });
  }

  /** Must run before every further request and every retry. Uses a short transaction of its own. */
  async renewPermit(reclaim?: Reclaim): Promise<Permit> {
    return await this.transactions.run(async (tx) => {
      const permit = await this.claimPermit(tx);
      await reclaim?.(tx);
      return permit;
    });
  }

  register(name: keyof HeldCounts, work: HeldWork): void {
    this.held.set(name, work);
  }

  async readWithHeld(): Promise<KillSwitchState & { readonly held: HeldCounts }> {
    const [state, held] = await Promise.all([this.read(), this.sumHeld((work) => work.count())]);
    return { ...state, held };
  }

  /**
   * Turns the switch on. Returns when no request with an earlier permit can still be sent. A repeated activation waits as well,
   * because the first activation may still wait.
   */
  async activate(
    caller: Caller,
    reason: string,
    idempotency: Participant<Activated>,
  ): Promise<Activated> {
    const state = await this.change('activated', caller, { reason }, idempotency);
    // Earlier permits expire. The end of all claims is no proof, because a hanging replica may not know of the end.
    await sleep(PERMIT_MS + MARGIN_MS);
    return { ...state, in_flight: await this.countInFlight() };
  }

  async deactivate(
    caller: Caller,
    request: KillSwitchDeactivationRequestDto,
    idempotency: Participant<Deactivated>,
  ): Promise<Deactivated> {
    return await this.change('deactivated', caller, request, idempotency);
  }

  private async change(
    event: keyof typeof CHANGES,
    caller: Caller,
    { reason, held }: KillSwitchDeactivationRequestDto,
    idempotency: Participant<Deactivated>,
  ): Promise<Deactivated> {
    return await this.connections.run<Deactivated>(
      async (tx) => {
        await this.lock(tx);
        const { name } = caller;
        const values = [reason, name];
        const [state] = await this.statements.rowsIn<KillSwitchState>(tx, CHANGES[event], values);
        if (!state) return await this.read(tx);
        const discarded =
          held === 'discard' ? await this.sumHeld((work) => work.discard(tx, caller)) : undefined;
        const type = `kill_switch.${event}` as const;
        const details = { reason, discarded };
        await this.audit.record(tx, { actor: name, action: type, subject: SUBJECT, details });
        const payload = { by: name, ...details };
        await this.events.record(tx, { type, subject: SUBJECT, payload });
        return { ...state, discarded };
      },
      caller,
      idempotency,
    );
  }

  async readIfPossible(): Promise<KillSwitchState | undefined> {
    return await this.read().catch(() => undefined);
  }

  private async readOff(tx: Tx): Promise<Permit> {
    await this.statements.rowsIn(tx, LOCK_SHARED);
    const permit = new Permit();
    // A separate statement, so that it sees commits during the wait for the lock.
    const { active, reason, activated_by, activated_at } = await this.read(tx);
    if (!active) return permit;
    throw new AppError(
      'kill_switch_active',
      'The kill switch is on: automation and actions are stopped.',
      { details: { reason, activated_by, activated_at } },
    );
  }

  /** Throws for an unreadable switch, which counts as active. */
  private async read(tx?: Tx): Promise<KillSwitchState> {
    const [row] = await this.statements.rowsIn<KillSwitchState>(tx, READ);
    if (row) return row;
    const message = 'The kill switch cannot be read and therefore counts as on.';
    throw new AppError('kill_switch_active', message);
  }

  /**
   * Waits a limited time for claims in progress, then changes the switch without the lock. These claims cannot send requests
   * after their permits expire, so the promise of an activation still holds.
   */
  private async lock(tx: Tx): Promise<void> {
    await tx.query('savepoint before_switch_lock');
    try {
      await tx.query(`set local lock_timeout = ${LOCK_PATIENCE_MS}`);
      await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.KillSwitch})`);
      await tx.query('set local lock_timeout = default');
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
      await tx.query('rollback to savepoint before_switch_lock');
      this.logger.warn(
        'A claim still holds the lock of the kill switch. The switch changes without the lock.',
      );
    }
  }

  private async countInFlight(): Promise<number | undefined> {
    const counts = [...this.held.values()].map(async (work) => (await work.inFlight?.()) ?? 0);
    const sum = Promise.all(counts).then((all) => all.reduce((one, other) => one + other, 0));
    return await within(COUNT_PATIENCE_MS, sum, () => undefined).catch(() => undefined);
  }

  /** Asks sequentially, because a transaction has one connection. */
  private async sumHeld(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const [name, work] of this.held) counts[name] = await ask(work);
    return counts;
  }
}

type ActiveSwitch = Pick<KillSwitchEntity, 'reason' | 'activated_by' | 'activated_at'>;

/** Used by a restore, whose current database may be empty. */
export async function findActiveSwitch(tx: Tx): Promise<ActiveSwitch | undefined> {
  if (!(await tx.queryRunner!.hasTable('kill_switch'))) return undefined;
  const [active] = await tx.query<ActiveSwitch[]>(
    `select reason, activated_by, activated_at from kill_switch where active`,
  );
  return active;
}

/** Used by a restore. An active switch stays active, with its reason. */
export async function keepSwitchActive(tx: Tx, activation: ActiveSwitch): Promise<void> {
  const never = { deactivated_by: null, deactivated_at: null, deactivation_reason: null };
  await tx.update(KillSwitchEntity, { only_row: true }, { active: true, ...activation, ...never });
}
