// SQL: reads the switch for every claim, takes an advisory lock, and may read a database with an older schema.
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

export function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}

interface HeldWork {
  inFlight?(): Promise<number>;
  count(): Promise<number>;
  discard(tx: Tx, caller: Caller): Promise<number>;
}

const COLUMNS = columnsOf(KillSwitchEntity, ['only_row']).join(', ');

const READ: Statement = { name: 'kill_switch_read', text: `select ${COLUMNS} from kill_switch` };

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

/** An advisory lock, because shared locks of the row would delay changes of the switch without limit. */
const LOCK_SHARED: Statement = {
  name: 'kill_switch_lock_shared',
  text: `select pg_advisory_xact_lock_shared(${AdvisoryLock.KillSwitch})`,
};

/** Maximum wait for claims in progress, because a hanging process could hold the lock for minutes. */
const LOCK_PATIENCE_MS = 400;

/** Maximum wait for the number of calls in progress. After that, an activation responds without the number. */
const COUNT_PATIENCE_MS = 250;

/** Margin for early timers, and for the time between the last check of a permit and the write to the socket. */
const MARGIN_MS = 50;

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

type HeldCounts = RowOf<HeldWorkDto>;
type Activated = RowOf<KillSwitchActivationDto>;
type Deactivated = RowOf<KillSwitchDeactivationDto>;

/** Modules register calls in progress and waiting work. After a deactivation, replicas find waiting work by polling. */
@Injectable()
export class KillSwitch {
  private readonly logger = new Logger(KillSwitch.name);
  /** Permits by transaction. Each permit holds a lock that prevents an activation until its transaction ends. */
  private readonly claimedIn = new WeakMap<Tx, Promise<Permit>>();
  private readonly held = new Map<keyof HeldCounts, HeldWork>();

  constructor(
    private readonly transactions: Transactions,
    private readonly statements: Statements,
    private readonly connections: ReservedConnections,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
  ) {}

  /** Throws `kill_switch_active` if the switch is on. No activation commits before the commit of `tx`. */
  async claimPermit(tx: Tx): Promise<Permit> {
    const claimed = this.claimedIn.get(tx) ?? this.readOff(tx);
    this.claimedIn.set(tx, claimed);
    return await claimed;
  }

  async permitIfOff(tx: Tx): Promise<Permit | undefined> {
    return await this.claimPermit(tx).catch((error: unknown) => {
      if (isKillSwitchActive(error)) return undefined;
      throw error;
    });
  }

  /** Must run before every request after the first, and before every retry. Uses a separate short transaction. */
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

  /** Returns when requests with earlier permits can no longer be sent, even if the switch was already on. */
  async activate(
    caller: Caller,
    reason: string,
    idempotency: Participant<Activated>,
  ): Promise<Activated> {
    const state = await this.change('activated', caller, { reason }, idempotency);
    // All earlier permits must expire, because a hanging replica may not know that its claim has ended.
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
    // Reads in a separate statement, which sees changes that were committed during the wait for the lock.
    const { active, reason, activated_by, activated_at } = await this.read(tx);
    if (!active) return permit;
    throw new AppError(
      'kill_switch_active',
      'The kill switch is on: automation and actions are stopped.',
      { details: { reason, activated_by, activated_at } },
    );
  }

  /** Throws if the switch cannot be read. An unreadable switch counts as on. */
  private async read(tx?: Tx): Promise<KillSwitchState> {
    const [row] = await this.statements.rowsIn<KillSwitchState>(tx, READ);
    if (row) return row;
    const message = 'The kill switch cannot be read and therefore counts as on.';
    throw new AppError('kill_switch_active', message);
  }

  /** After a limited wait, changes the switch without the lock: claims send nothing after their permits expire. */
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

  /** Asks the modules one after another, because a transaction has only one connection. */
  private async sumHeld(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const [name, work] of this.held) counts[name] = await ask(work);
    return counts;
  }
}

type ActiveSwitch = Pick<KillSwitchEntity, 'reason' | 'activated_by' | 'activated_at'>;

/** Used by a restore. The current database may be empty and have no such table. */
export async function findActiveSwitch(tx: Tx): Promise<ActiveSwitch | undefined> {
  if (!(await tx.queryRunner!.hasTable('kill_switch'))) return undefined;
  const [active] = await tx.query<ActiveSwitch[]>(
    `select reason, activated_by, activated_at from kill_switch where active`,
  );
  return active;
}

export async function keepSwitchActive(tx: Tx, activation: ActiveSwitch): Promise<void> {
  const never = { deactivated_by: null, deactivated_at: null, deactivation_reason: null };
  await tx.update(KillSwitchEntity, { only_row: true }, { active: true, ...activation, ...never });
}
