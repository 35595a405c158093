import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../actions/action.js';
import { ActionDecisions } from '../../actions/requests/action-decisions.js';
import { ActionWithdrawal } from '../../actions/requests/action-withdrawal.js';
import { requireApprovalLevel } from '../../auth/authorisation.js';
import { SamePerson } from '../../auth/principals/same-person.js';
import type { Principal } from '../../auth/principal.js';
import { IncidentEndings } from '../../incidents/incident-endings.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { Caller } from '../../platform/http/caller.js';
import { type PlaybookRun, type PlaybookRunSummary, type StepAction } from './playbook-run.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';
import { RunRecorder } from './records/run-recorder.js';
import { RunWritesRepository } from './records/run-writes.repository.js';
import { RunEndedError } from './runs.errors.js';

const CANCELLED = 'Its playbook run was cancelled.';
const INCIDENT_DELETED = 'Its incident was deleted.';

/** Ends runs that are not to go on: by a person, with their incident, or because the kill switch held them. */
@Injectable()
export class RunCancellation implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly decisions: ActionDecisions,
    private readonly withdrawal: ActionWithdrawal,
    private readonly samePerson: SamePerson,
    private readonly killSwitch: KillSwitch,
    private readonly endings: IncidentEndings,
    private readonly runs: PlaybookRunsRepository,
    private readonly writes: RunWritesRepository,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.killSwitch.registerHeld('playbook_runs', {
      count: () => this.runs.countDue(),
      discard: (tx, caller) => this.discardHeld(tx, caller),
    });
    // The module of actions has registered before, and rejects what waits.
    this.endings.register({
      onDeleted: async (tx, incidentId) => {
        await this.cancelOfIncident(tx, incidentId, SYSTEM, INCIDENT_DELETED);
      },
      pending: {
        name: 'runs',
        withdraw: (...ending) => this.cancelOfIncident(...ending),
      },
    });
  }

  /**
   * An action that waits for approval is rejected by the caller, who therefore needs its level, unless it is the caller's own run:
   * who asked may take it back. One that needs none, and waits for a place, is withdrawn; one that runs ends by itself, and one
   * that others requested is theirs. Throws RunEndedError.
   */
  async cancel(
    caller: Principal,
    run: PlaybookRun,
    idempotency: Participant<PlaybookRun>,
  ): Promise<PlaybookRun> {
    return await this.transactions.run<PlaybookRun>(
      async (tx) => {
        // The order of the locks is that of approvals and deletions.
        if (run.incidentId) await this.incidents.lockForShare(tx, run.incidentId);
        const by = `Cancelled by ${caller.name}.`;
        const cancelled = await this.writes.cancel(tx, run.id, by, this.clock.now());
        if (!cancelled) throw new RunEndedError();
        const steps = await this.runs.stepsIn(tx, run.id);
        const open = steps.find(({ status }) => status === 'cancelled')?.action;
        if (open && !open.borrowed) await this.stop(tx, caller, open, run);
        await this.record(tx, [cancelled], caller.name);
        return { ...cancelled, playbook: run.playbook, steps };
      },
      caller,
      idempotency,
    );
  }

  private async stop(
    tx: Tx,
    caller: Principal,
    action: StepAction,
    { requestedBy }: PlaybookRun,
  ): Promise<void> {
    const { id, status, approvalLevel } = action;
    if (status === 'pending_approval') {
      const isOwn = await this.samePerson.isSamePerson(tx, caller, requestedBy);
      if (!isOwn) requireApprovalLevel(caller, approvalLevel ?? 'none');
      await this.decisions.reject(tx, id, caller.name, CANCELLED);
    } else if (approvalLevel === undefined) {
      await this.withdrawal.withdraw(tx, id, caller.name, CANCELLED);
    }
  }

  private async discardHeld(tx: Tx, caller: Caller): Promise<number> {
    const why = `Discarded by ${caller.name}, who turned the kill switch off.`;
    const cancelled = await this.writes.cancelDue(tx, why, this.clock.now());
    await this.record(tx, cancelled, SYSTEM);
    return cancelled.length;
  }

  private async cancelOfIncident(
    tx: Tx,
    incidentId: string,
    by: string,
    reason: string,
  ): Promise<number> {
    const at = this.clock.now();
    const cancelled = await this.writes.cancelOfIncident(tx, incidentId, reason, at);
    await this.record(tx, cancelled, by);
    return cancelled.length;
  }

  private async record(tx: Tx, runs: readonly PlaybookRunSummary[], by: string): Promise<void> {
    for (const run of runs) {
      await this.recorder.ended(tx, run, { ...run, status: 'cancelled' }, by);
    }
  }
}
