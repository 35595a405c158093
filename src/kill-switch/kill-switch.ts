import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditLog } from '../audit/audit-log.js';
import { within } from '../platform/concurrency/within.js';
import { ReservedConnections } from '../platform/database/reserved-connections.js';
import { type Participant, type Tx, Transactions } from '../platform/database/transactions.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import type { Departure, Gate } from '../platform/net/outbound-request.js';
import type { RowOf } from '../platform/validation/present.js';
import type {
  HeldWorkDto,
  KillSwitchActivationDto,
  KillSwitchDeactivationDto,
} from './kill-switch.dto.js';
import { KillSwitchRepository, type KillSwitchState } from './kill-switch.repository.js';

class KillSwitchActiveError extends AppError {
  constructor({ reason, activated_by, activated_at }: KillSwitchState) {
    super('kill_switch_active', 'The kill switch is on: automation and actions are stopped.', {
      details: { reason, activated_by, activated_at },
    });
  }
}

/** Whether the work was rejected because the switch is on or cannot be read. */
export function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}

const KILL_SWITCH_ACTIVATED = 'kill_switch.activated';
const KILL_SWITCH_DEACTIVATED = 'kill_switch.deactivated';

/** Work of a module that the switch stops. */
interface HeldWork {
  /** Returns the number of claims whose calls started and have not ended. */
  inFlight?(): Promise<number>;
  /** Returns the number of pieces that wait while the switch is on. */
  count(): Promise<number>;
  /** Discards the waiting work. Returns the number of discarded pieces. */
  discard(tx: Tx, caller: Caller): Promise<number>;
}

/** Condition for statements that claim work without a permit. Null, which is not off, if there is no switch. */
export const IS_KILL_SWITCH_ON = '(select active from kill_switch)';

/** Validity of a permit: time after the read of the switch in which a gated request may leave. */
export const PERMIT_MS = 1_000;

export interface PermitTimes {
  /** Cannot be set, but stops while the machine sleeps. */
  readonly monotonic: number;
  /** Continues while the machine sleeps, but can be set. */
  readonly wall: number;
}

const presentTimes = (): PermitTimes => ({ monotonic: performance.now(), wall: Date.now() });

/** The permit expired before the request left. Nothing was sent, and the switch must be read again. */
export class PermitLapsed extends Error {
  constructor() {
    super(`The permit expired: more than ${PERMIT_MS} ms passed since the kill switch was read.`);
    this.name = new.target.name;
  }
}

/** Proof that the kill switch was off at a time. The permit expires PERMIT_MS later. */
export class Permit {
  /** @param since taken before the switch was read */
  constructor(
    private readonly since: PermitTimes,
    private readonly now: () => PermitTimes = presentTimes,
  ) {}

  get fresh(): boolean {
    const { monotonic, wall } = this.now();
    return (
      monotonic - this.since.monotonic < PERMIT_MS && Math.abs(wall - this.since.wall) < PERMIT_MS
    );
  }

  /** Call it immediately before the bytes of a gated request leave. */
  assertFresh(): void {
    if (!this.fresh) throw new PermitLapsed();
  }
}

/** Joins the transaction that renews a permit. Throws if the claim is lost. */
type Reclaim = (tx: Tx) => Promise<void>;

/** Hooks of the owner of a claim, called before its requests leave. */
interface ClaimSteps {
  /** Called before the first request leaves: records that a request may have left. Nothing leaves if it throws. */
  readonly noteSending?: () => Promise<void>;
  readonly reclaim?: Reclaim;
}

/**
 * Gate for the requests of one claim. The first request may use the permit of the claim. Every further request, a late
 * first request, or the first request of a claim without a permit reads the switch again and confirms the claim.
 */
export class PermitGate implements Gate {
  private noted = false;
  private used = false;

  constructor(
    private readonly killSwitch: Pick<KillSwitch, 'renewPermit'>,
    private permit: Permit | undefined,
    private readonly signal: AbortSignal,
    private readonly claim: ClaimSteps = {},
  ) {}

  /** Whether a request has left, so that the claim may have had an effect. */
  get opened(): boolean {
    return this.used;
  }

  async send<T>(request: (departure: Departure) => Promise<T>): Promise<T> {
    let asked = false;
    const leave = async (): Promise<void> => {
      asked = true;
      await this.leave();
    };
    const answer = await request({ signal: this.signal, leave });
    if (asked) return answer;
    // The request may have had its effect, whatever is thrown here.
    this.used = true;
    throw new Error(
      'The request was sent without a check of the kill switch: departure.leave() was not called.',
    );
  }

  private async leave(): Promise<void> {
    if (!this.noted) await this.claim.noteSending?.();
    this.noted = true;
    this.signal.throwIfAborted();
    if (this.used || !this.permit?.fresh) {
      this.permit = await this.killSwitch.renewPermit(this.claim.reclaim);
    }
    this.signal.throwIfAborted();
    this.permit.assertFresh();
    this.used = true;
  }
}

/** An activation must respond soon, if necessary without the number of calls in progress. */
const COUNT_PATIENCE_MS = 250;

/** Margin for early timers, and for the time between the last check of a permit and the socket. */
const MARGIN_MS = 50;

const SUBJECT = { type: 'kill_switch', id: 'kill_switch' } as const;

type HeldCounts = RowOf<HeldWorkDto>;
type Activated = RowOf<KillSwitchActivationDto>;
type Deactivated = RowOf<KillSwitchDeactivationDto>;

/**
 * Issues permits for claims, and turns the switch on and off. Modules register the calls in progress and the waiting work,
 * which replicas find by polling after the switch was turned off.
 */
@Injectable()
export class KillSwitch {
  private readonly logger = new Logger(KillSwitch.name);
  /** Times at which transactions read the switch. Their lock prevents an activation before they end. */
  private readonly claimedIn = new WeakMap<Tx, Promise<PermitTimes>>();
  private readonly held = new Map<keyof HeldCounts, HeldWork>();

  constructor(
    private readonly transactions: Transactions,
    private readonly repository: KillSwitchRepository,
    private readonly connections: ReservedConnections,
    private readonly audit: AuditLog,
    private readonly events: DomainEvents,
  ) {}

  /**
   * Call it in the transaction of a claim. Throws AppError `kill_switch_active` if the switch is on. No activation
   * commits between this call and the commit of the transaction.
   */
  async claimPermit(tx: Tx): Promise<Permit> {
    const claimed = this.claimedIn.get(tx) ?? this.readOff(tx);
    this.claimedIn.set(tx, claimed);
    return new Permit(await claimed);
  }

  /** For the gate of a kind of work: `undefined` if the switch is on. */
  async permitIfOff(tx: Tx): Promise<Permit | undefined> {
    return await this.claimPermit(tx).catch((error: unknown) => {
      if (isKillSwitchActive(error)) return undefined;
      throw error;
    });
  }

  /** Call it before every further request and every retry. Runs in a short transaction of its own. */
  async renewPermit(reclaim?: Reclaim): Promise<Permit> {
    return await this.transactions.run(async (tx) => {
      const permit = await this.claimPermit(tx);
      await reclaim?.(tx);
      return permit;
    });
  }

  /** Call it in `onModuleInit`. */
  register(name: keyof HeldCounts, work: HeldWork): void {
    this.held.set(name, work);
  }

  async readWithHeld(): Promise<KillSwitchState & { readonly held: HeldCounts }> {
    const [state, held] = await Promise.all([
      this.repository.read(),
      this.sumHeld((work) => work.count()),
    ]);
    return { ...state, held };
  }

  /**
   * Returns when no request with an earlier permit can leave any more. A repetition waits as well, because the first
   * activation may still be waiting.
   */
  async activate(
    caller: Caller,
    reason: string,
    idempotency: Participant<Activated>,
  ): Promise<Activated> {
    const state = await this.connections.run<KillSwitchState>(
      async (tx) => {
        await this.lock(tx);
        const changed = await this.repository.activate(tx, reason, caller.name);
        if (!changed) return await this.repository.read(tx);
        await this.record(tx, caller, KILL_SWITCH_ACTIVATED, { reason });
        return changed;
      },
      caller,
      idempotency,
    );
    // The end of all claims proves nothing: a hanging replica may not have noticed that it lost its claim.
    await sleep(PERMIT_MS + MARGIN_MS);
    return { ...state, in_flight: await this.countInFlight() };
  }

  /** Changes nothing if the switch is off. */
  async deactivate(
    caller: Caller,
    { reason, discard }: { readonly reason: string; readonly discard: boolean },
    idempotency: Participant<Deactivated>,
  ): Promise<Deactivated> {
    return await this.connections.run<Deactivated>(
      async (tx) => {
        await this.lock(tx);
        const changed = await this.repository.deactivate(tx, reason, caller.name);
        if (!changed) return await this.repository.read(tx);
        const discarded = discard
          ? await this.sumHeld((work) => work.discard(tx, caller))
          : undefined;
        await this.record(tx, caller, KILL_SWITCH_DEACTIVATED, { reason, discarded });
        return { ...changed, discarded };
      },
      caller,
      idempotency,
    );
  }

  /** `undefined` if the switch cannot be read. */
  async readIfPossible(): Promise<KillSwitchState | undefined> {
    return await this.repository.read().catch(() => undefined);
  }

  private async readOff(tx: Tx): Promise<PermitTimes> {
    await this.repository.lockShared(tx);
    const since = presentTimes();
    // A separate statement, so that it sees commits during the wait for the lock.
    const state = await this.repository.read(tx);
    if (state.active) throw new KillSwitchActiveError(state);
    return since;
  }

  private async lock(tx: Tx): Promise<void> {
    if (await this.repository.lockExclusively(tx)) return;
    this.logger.warn(
      'A claim still holds the lock of the kill switch. The switch changes without the lock.',
    );
  }

  private async record(
    tx: Tx,
    { name }: Caller,
    type: typeof KILL_SWITCH_ACTIVATED | typeof KILL_SWITCH_DEACTIVATED,
    details: Record<string, unknown>,
  ): Promise<void> {
    await this.audit.record(tx, { actor: name, action: type, subject: SUBJECT, details });
    await this.events.record(tx, { type, subject: SUBJECT, payload: { by: name, ...details } });
  }

  /** `undefined` if the calls could not be counted in time. */
  private async countInFlight(): Promise<number | undefined> {
    const counts = [...this.held.values()].map(async (work) => (await work.inFlight?.()) ?? 0);
    const counting = Promise.all(counts)
      .then((all) => all.reduce((sum, count) => sum + count, 0))
      .catch(() => undefined);
    return await within(COUNT_PATIENCE_MS, counting, () => undefined);
  }

  /** Sequential, because a transaction has one connection. */
  private async sumHeld(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const [name, work] of this.held) counts[name] = await ask(work);
    return counts;
  }
}
