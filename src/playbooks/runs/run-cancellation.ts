import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../actions/action.js';
import { ActionDecisions } from '../../actions/action-decisions.js';
import { requireApprovalLevel, SamePerson } from '../../auth/authorisation.js';
import type { Principal } from '../../auth/principal.js';
import { IncidentEndings, IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import type { Caller } from '../../platform/http/caller.js';
import {
  type PlaybookRun,
  type PlaybookRunSummary,
  RunEndedError,
  type StepAction,
} from './playbook-run.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';
import { RunRecorder } from './records/run-recorder.js';
import { RunWritesRepository } from './records/run-writes.repository.js';

const CANCELLED = 'Its playbook run was cancelled.';
const INCIDENT_DELETED = 'Its incident was deleted.';

/** Cancels runs: for a person, with their incident, or when runs held by the kill switch are discarded. */
@Injectable()
export class RunCancellation implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly decisions: ActionDecisions,
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
    // The module of actions has registered before, so pending actions are rejected first.
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
   * Cancels the run and stops its action. An action that waits for approval is rejected, for which the caller needs its level
   * or must have started the run. An action that has not begun is withdrawn. An action that runs ends by itself, and an
   * action that another run or person requested is left alone. Throws RunEndedError.
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
    const { id, status, approval_level } = action;
    if (status === 'pending_approval') {
      const hasStarted = await this.hasStarted(tx, caller, requestedBy);
      if (!hasStarted) requireApprovalLevel(caller, approval_level ?? 'none');
      await this.decisions.reject(tx, id, caller.name, CANCELLED);
    } else if (approval_level === undefined) {
      await this.decisions.withdraw(tx, id, caller.name, CANCELLED);
    }
  }

  /**
   * A user has started what their keys started. A key has started only its own runs: one administrator makes the keys of many
   * tools, and none of these tools may stop the runs of another one above its level.
   */
  private async hasStarted(tx: Tx, caller: Principal, requestedBy: string): Promise<boolean> {
    if (caller.name === requestedBy) return true;
    return caller.kind === 'user' && (await this.samePerson.isSamePerson(tx, caller, requestedBy));
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
