import { Injectable } from '@nestjs/common';
import { ClaimLostError } from '../../actions/execution/lease-keeper.js';
import { KillSwitch, type Permit } from '../../kill-switch/kill-switch.js';
import { Settings } from '../../platform/config/settings.js';
import { JointTransactions } from '../../platform/concurrency/joint-transactions.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { ModelUnavailableError } from '../model/model.errors.js';
import { TriageModel } from '../model/triage-model.port.js';
import { RunClaimsRepository, type Used } from '../records/run-claims.repository.js';
import { TriageRunsRepository } from '../records/triage-runs.repository.js';
import type { TriageRun } from '../triage-run.js';
import { retryPauseMs, runErrorOf } from './run-rules.js';

/** The kill switch as runs meet it: it holds those whose model asks outside, and no others. */
@Injectable()
export class RunPermits {
  constructor(
    private readonly killSwitch: KillSwitch,
    private readonly model: TriageModel,
  ) {}

  get areNeeded(): boolean {
    return this.model.asksOutside;
  }

  /** Undefined where none is needed; a request that is sent all the same has to ask for one. Throws `kill_switch_active`. */
  async claim(tx: Tx): Promise<Permit | undefined> {
    return this.areNeeded ? await this.killSwitch.claimPermit(tx) : undefined;
  }

  /** Whether runs have to wait for the kill switch now. */
  async areWithheld(): Promise<boolean> {
    return this.areNeeded && (await this.killSwitch.isActive());
  }
}

/** A run that one replica works on, on the permit of the transaction that claimed it, where it needs one. */
export interface ClaimedRun {
  readonly run: TriageRun;
  readonly permit?: Permit;
  /** It waited before somebody took it over who now waits for it: when the provider gives nothing, it waits on. */
  readonly hasWaited?: boolean;
}

/** What a run writes while it has not ended: its claim, its signs of life, and that it waits again. */
@Injectable()
export class RunClaims {
  private readonly together: JointTransactions;

  constructor(
    private readonly transactions: Transactions,
    private readonly permits: RunPermits,
    private readonly claims: RunClaimsRepository,
    private readonly runs: TriageRunsRepository,
    private readonly model: TriageModel,
    private readonly settings: Settings,
  ) {
    this.together = new JointTransactions(transactions);
  }

  /** Undefined when another replica has it, or it has ended. Throws `kill_switch_active`. */
  async claim(waiting: TriageRun): Promise<ClaimedRun | undefined> {
    return await this.together.run<ClaimedRun | undefined>(waiting.id, async (tx) => {
      const permit = await this.permits.claim(tx);
      const by = { leaseMs: this.settings.actionLeaseMs, provider: this.model.provider };
      const run = await this.claims.claim(tx, waiting, by);
      return run && { run, permit };
    });
  }

  /** Makes sure, in a transaction that renews the permit, that the claim still holds. */
  async confirm(tx: Tx, run: TriageRun): Promise<void> {
    const holds = await this.claims.renewIn(tx, run, this.settings.actionLeaseMs);
    if (!holds) throw new ClaimLostError();
  }

  async renew(run: TriageRun): Promise<boolean> {
    return await this.claims.renew(run, this.settings.actionLeaseMs);
  }

  /** Puts an interrupted run back into the queue, for any replica. */
  async release(run: TriageRun, afterMs = 0, used: Used = {}): Promise<TriageRun> {
    return await this.transactions.run(async (tx) =>
      held(await this.claims.release(tx, run, { afterMs, ...used })),
    );
  }

  /** The provider gave nothing: it waits for another attempt, and shows why. */
  async retryLater(
    run: TriageRun,
    error: ModelUnavailableError,
    used: Used = {},
    idempotency: Participant<TriageRun> = {},
  ): Promise<TriageRun> {
    const changes = { error: runErrorOf(error), failures: run.failures + 1 };
    const afterMs = retryPauseMs(run.failures, error, Math.random());
    return await this.transactions.run<TriageRun>(
      async (tx) => held(await this.claims.release(tx, run, { ...changes, afterMs, ...used })),
      idempotency,
    );
  }

  /** The run as another replica has left it. */
  async present(run: TriageRun): Promise<TriageRun> {
    return (await this.runs.find(run.incidentId, run.id)) ?? run;
  }
}

function held(run: TriageRun | undefined): TriageRun {
  if (!run) throw new ClaimLostError();
  return run;
}
