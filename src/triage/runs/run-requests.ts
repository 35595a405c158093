import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import type { Permit } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { TriageModel } from '../model/triage-model.port.js';
import { RunClaimsRepository } from '../records/run-claims.repository.js';
import { RunRecorder } from '../records/run-recorder.js';
import { type NewRun, TriageRunsRepository } from '../records/triage-runs.repository.js';
import { TriageInProgressError } from '../triage.errors.js';
import type { TriageRun } from '../triage-run.js';
import { type ClaimedRun, RunPermits } from './run-claims.js';

export interface WantedRun {
  readonly incidentId: string;
  readonly force: boolean;
  readonly playbook?: string;
}

type Origin = Pick<NewRun, 'requestedBy' | 'claimForMs'>;

/** Creates runs, or hands one that waits to the person who asks for it. It begins none. */
@Injectable()
export class RunRequests {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly permits: RunPermits,
    private readonly runs: TriageRunsRepository,
    private readonly claims: RunClaimsRepository,
    private readonly recorder: RunRecorder,
    private readonly model: TriageModel,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** A run that the caller waits for: claimed by the transaction that creates it, with the permit that it may need. */
  async begin(
    caller: Principal,
    wanted: WantedRun,
    idempotency: Participant<TriageRun>,
  ): Promise<ClaimedRun> {
    let permit: Permit | undefined;
    let waiting: TriageRun | undefined;
    const run = await this.transactions.run<TriageRun>(
      async (tx) => {
        permit = await this.permits.claim(tx);
        waiting = await this.openOf(tx, wanted);
        const origin = { requestedBy: caller.name, claimForMs: this.settings.actionLeaseMs };
        return await this.createOrTakeOver(tx, waiting, wanted, origin);
      },
      caller,
      idempotency,
    );
    return { run, permit, hasWaited: waiting !== undefined };
  }

  /** A run that waits for any replica. A person learns at once that the kill switch is on. */
  async queue(
    caller: Principal,
    wanted: WantedRun,
    idempotency: Participant<TriageRun>,
  ): Promise<TriageRun> {
    return await this.transactions.run<TriageRun>(
      async (tx) => {
        await this.permits.claim(tx);
        const waiting = await this.openOf(tx, wanted);
        return await this.createOrTakeOver(tx, waiting, wanted, { requestedBy: caller.name });
      },
      caller,
      idempotency,
    );
  }

  /** The same for what no person asks for: it is created while the kill switch is on, too, and a run that waits is enough. */
  async queueIn(tx: Tx, wanted: WantedRun, requestedBy: string): Promise<TriageRun> {
    const open = await this.openOf(tx, wanted);
    if (open) throw new TriageInProgressError(open);
    return await this.create(tx, wanted, { requestedBy });
  }

  /** The run that the incident has already. The incident is locked, so that twins take turns. Throws NotFoundError. */
  private async openOf(tx: Tx, { incidentId }: WantedRun): Promise<TriageRun | undefined> {
    if (!(await this.incidents.lockForUpdate(tx, incidentId))) throw new NotFoundError('Incident');
    return await this.runs.openIn(tx, incidentId);
  }

  /** Throws TriageInProgressError when the open run does not wait. */
  private async createOrTakeOver(
    tx: Tx,
    open: TriageRun | undefined,
    wanted: WantedRun,
    origin: Origin,
  ): Promise<TriageRun> {
    if (!open) return await this.create(tx, wanted, origin);
    // It keeps what it has noted and used, and goes on with all that the person wants of it.
    const run = await this.claims.takeOver(tx, open, {
      ...origin,
      provider: this.model.provider,
      force: wanted.force || open.force,
      playbook: wanted.playbook ?? open.playbook,
    });
    if (!run) throw new TriageInProgressError({ id: open.id, status: 'running' });
    await this.recorder.requested(tx, run);
    return run;
  }

  private async create(tx: Tx, wanted: WantedRun, origin: Origin): Promise<TriageRun> {
    const createdAt = this.clock.now();
    const run = await this.runs.insert(tx, {
      ...wanted,
      ...origin,
      id: newId(createdAt.getTime()),
      provider: this.model.provider,
      createdAt,
    });
    await this.recorder.requested(tx, run);
    return run;
  }
}
