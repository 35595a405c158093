import { Injectable } from '@nestjs/common';
import { within } from '../platform/concurrency/within.js';
import { type Tx, Transactions } from '../platform/database/transactions.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';
import type { Departure, Gate } from '../platform/net/outbound-request.js';
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

export const KILL_SWITCH_ACTIVATED = 'kill_switch.activated';
export const KILL_SWITCH_DEACTIVATED = 'kill_switch.deactivated';

/** Work that waits while the switch is on. */
interface HeldWork {
  count(): Promise<number>;
  /** Discards the waiting work. Returns the number of discarded pieces. */
  discard(tx: Tx, caller: Caller): Promise<number>;
}

const HELD = ['actions', 'triage_runs', 'playbook_runs'] as const;
type HeldName = (typeof HELD)[number];
export type HeldCounts = Readonly<Record<HeldName, number>>;

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

/** Hooks of the owner of a claim, called before its requests leave. */
interface ClaimSteps {
  /** Called before the first request leaves: records that a request may have left. Nothing leaves if it throws. */
  readonly noteSending?: () => Promise<void>;
  /** Joins the transaction that renews the permit: see KillSwitch.renewPermit. */
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
    throw new Error('A gated request was sent without asking the gate.');
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

/** Joins the transaction that renews a permit. Throws if the claim is lost. */
type Reclaim = (tx: Tx) => Promise<void>;

/** An activation must respond soon, if necessary without the number of calls in progress. */
const COUNT_PATIENCE_MS = 250;

/** Issues permits for claims, and knows the calls in progress and the waiting work of other modules. */
@Injectable()
export class KillSwitch {
  /** Times at which transactions read the switch. Their lock prevents an activation before they end. */
  private readonly claimedIn = new WeakMap<Tx, Promise<PermitTimes>>();
  private readonly countsInFlight: (() => Promise<number>)[] = [];
  private readonly held = new Map<HeldName, HeldWork>();
  private readonly wakers: (() => void)[] = [];

  constructor(
    private readonly transactions: Transactions,
    private readonly repository: KillSwitchRepository,
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

  /** Call it before every further request and every retry. Runs in a short transaction of its own. */
  async renewPermit(reclaim?: Reclaim): Promise<Permit> {
    return await this.transactions.run(async (tx) => {
      const permit = await this.claimPermit(tx);
      await reclaim?.(tx);
      return permit;
    });
  }

  /** Also `true` if the switch cannot be read. */
  async isActive(): Promise<boolean> {
    return (await this.readIfPossible())?.active ?? true;
  }

  async readIfPossible(): Promise<KillSwitchState | undefined> {
    return await this.repository.read().catch(() => undefined);
  }

  /** Call it in `onModuleInit`. `count` counts the claims whose calls started and have not ended. */
  registerInFlight(count: () => Promise<number>): void {
    this.countsInFlight.push(count);
  }

  /** Call it in `onModuleInit`. */
  registerHeld(name: HeldName, work: HeldWork): void {
    this.held.set(name, work);
  }

  /** `undefined` if the calls could not be counted in time. */
  async countInFlight(): Promise<number | undefined> {
    const counting = Promise.all(this.countsInFlight.map((count) => count()))
      .then((counts) => counts.reduce((sum, count) => sum + count, 0))
      .catch(() => undefined);
    return await within(COUNT_PATIENCE_MS, counting, () => undefined);
  }

  /** Call it in `onModuleInit`. `wake` is called after this replica turned the switch off. Other replicas poll. */
  onTurnedOff(wake: () => void): void {
    this.wakers.push(wake);
  }

  /** The switch is off now: what waited for that goes on. */
  turnedOff(): void {
    for (const wake of this.wakers) wake();
  }

  countHeld(): Promise<HeldCounts> {
    return this.sumHeld((work) => work.count());
  }

  discardHeld(tx: Tx, caller: Caller): Promise<HeldCounts> {
    return this.sumHeld((work) => work.discard(tx, caller));
  }

  private async readOff(tx: Tx): Promise<PermitTimes> {
    await this.repository.lockShared(tx);
    const since = presentTimes();
    // A separate statement, so that it sees commits during the wait for the lock.
    const state = await this.repository.read(tx);
    if (state.active) throw new KillSwitchActiveError(state);
    return since;
  }

  /** Sequential, because a transaction has one connection. */
  private async sumHeld(ask: (work: HeldWork) => Promise<number>): Promise<HeldCounts> {
    const counts = { actions: 0, triage_runs: 0, playbook_runs: 0 };
    for (const name of HELD) {
      const work = this.held.get(name);
      if (work) counts[name] = await ask(work);
    }
    return counts;
  }
}
