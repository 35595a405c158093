import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { INCIDENT_EVENTS, type TriageWantedPayload } from '../../incidents/change-records.js';
import { Incidents } from '../../incidents/incidents.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { shownStart } from '../../platform/text.js';
import type { DomainEvent } from '../../platform/work/domain-event.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { Work } from '../../platform/work/work.js';
import { TriageModel } from '../model/triage-model.port.js';
import { RunRecorder } from '../records/run-recorder.js';
import { type NewRun, TRIAGE, TriageRunsRepository } from '../records/triage-runs.repository.js';
import { TriageInProgressError } from '../triage.errors.js';
import { SYSTEM, type TriageRun } from '../triage-run.js';
import { AskedTriage, type Waiting } from './asked-triage.js';
import { type LockedJudgements, LocalTriage } from './local-triage.js';
import { RunEndings } from './run-endings.js';
import { stillAnswers } from './run-rules.js';

export interface WantedRun {
  readonly incidentId: string;
  readonly force: boolean;
  readonly playbook?: string;
  /** The caller does not wait for the verdict. */
  readonly later: boolean;
}

export interface RunOutcome {
  /** The run after its attempt. */
  readonly run: TriageRun;
  /** Why there is no verdict. */
  readonly cause?: unknown;
}

const HANDLER = 'auto-triage';
const LONGEST_PLAYBOOK = 200;

/** Creates runs, or gives a run that waits to the person who asks for it. */
@Injectable()
export class RunRequests implements OnModuleInit {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: Incidents,
    private readonly killSwitch: KillSwitch,
    private readonly runs: TriageRunsRepository,
    private readonly recorder: RunRecorder,
    private readonly endings: RunEndings,
    private readonly local: LocalTriage,
    private readonly asked: AskedTriage,
    private readonly model: TriageModel,
    private readonly events: DomainEvents,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.events.inTransaction({ types: [INCIDENT_EVENTS.triageWanted] }, HANDLER, (tx, events) =>
      this.triageWanted(tx, events),
    );
  }

  /** Throws NotFoundError, TriageInProgressError and `kill_switch_active`. */
  async request(caller: Principal, wanted: WantedRun, waiting: Waiting): Promise<RunOutcome> {
    let ended: Awaited<ReturnType<AskedTriage['begin']>> | undefined;
    const run = await this.transactions.run<TriageRun>(
      async (tx) => {
        ended = undefined;
        const permit = this.model.asksOutside ? await this.killSwitch.claimPermit(tx) : undefined;
        const isJudged = this.local.isUsed && !wanted.later;
        const wantedRun = this.newRun(wanted, caller.name);
        const judged = isJudged ? await this.local.judgeAndLock(tx, [wantedRun]) : undefined;
        const { run, hasWaited } = await this.createOrTakeOver(tx, wantedRun, judged);
        if (run.status === 'completed') return run;
        await this.recorder.requested(tx, [run], !wanted.later);
        if (judged) {
          const outcome = judged.outcomeOf(run);
          if (outcome.error) throw new Error(outcome.error.message);
          return (await this.endings.write(tx, [outcome], judged.incidents)).get(run.id)!;
        }
        if (wanted.later) {
          await this.work.add(tx, TRIAGE, { ref: run.id });
          return run;
        }
        ended = await this.asked.begin(tx, run, { ...waiting, hasWaited }, permit!);
        return { ...run, status: 'running' };
      },
      caller,
      waiting.completed,
    );
    if (!ended) return { run };
    const { run: after, cause } = await ended();
    // Without an outcome, another replica has taken the run over.
    return { run: after ?? (await this.runs.find(run.incident_id, run.id)) ?? run, cause };
  }

  /** The incident is locked, so that simultaneous requests take turns. */
  private async createOrTakeOver(
    tx: Tx,
    wanted: NewRun,
    judged: LockedJudgements | undefined,
  ): Promise<{ readonly run: TriageRun; readonly hasWaited: boolean }> {
    const { incident_id: id, force, playbook } = wanted;
    const incidents = judged?.incidents ?? (await this.incidents.lockAllForUpdate(tx, [id]));
    const incident = incidents.get(id);
    if (!incident) throw new NotFoundError('Incident');
    const { open, completed } = (await this.runs.known([id], tx)).get(id) ?? {};
    if (judged && completed && !force && stillAnswers(completed, incident)) {
      // Another request was faster.
      return { run: (await this.runs.find(id, completed.id, tx))!, hasWaited: false };
    }
    if (!open) return { run: (await this.runs.insert(tx, [wanted]))[0]!, hasWaited: false };
    const run = await this.runs.takeOver(tx, {
      ...{ ...wanted, id: open.id },
      force: force || open.force,
      playbook: playbook ?? open.playbook,
    });
    const waiting = await this.work.cancelWaiting(tx, TRIAGE, [open.id]);
    if (!run || waiting.length === 0) {
      throw new TriageInProgressError({ id: open.id, status: 'running' });
    }
    return { run, hasWaited: true };
  }

  /**
   * Creates the runs of incidents whose creator wants triage, such as a webhook source. Without a model outside, they end in
   * the same transaction. Returns the events that came too early: the attempt under way does not know the latest report.
   */
  private async triageWanted(tx: Tx, events: readonly DomainEvent[]): Promise<DomainEvent[]> {
    const wanted = [...Map.groupBy(events, ({ subject }) => subject.id)].map(([id, ofIncident]) => {
      const payloads = ofIncident.map(({ payload }) => payload as TriageWantedPayload);
      const { playbook, requested_by = SYSTEM } = payloads[0]!;
      const request = {
        incidentId: id,
        force: false,
        playbook: playbook && shownStart(playbook, LONGEST_PLAYBOOK),
      };
      const isAgain = payloads.some(({ again }) => again);
      return { events: ofIncident, isAgain, run: this.newRun(request, requested_by) };
    });
    const runs = wanted.map(({ run }) => run);
    const ids = runs.map(({ incident_id }) => incident_id);
    const judged = this.local.isUsed ? await this.local.judgeAndLock(tx, runs) : undefined;
    const incidents = judged?.incidents ?? (await this.incidents.lockAllForUpdate(tx, ids));
    const known = await this.runs.known(ids, tx);
    const isEarly = ({ isAgain, run }: (typeof wanted)[number]) =>
      isAgain && known.get(run.incident_id)?.open?.status === 'running';
    const created = wanted.filter(({ isAgain, run: { incident_id: id } }) => {
      const { open, completed } = known.get(id) ?? {};
      return incidents.has(id) && !open && (isAgain || !completed);
    });
    if (created.length > 0) {
      await this.create(
        tx,
        created.map(({ run }) => run),
        judged,
      );
    }
    return wanted.filter(isEarly).flatMap((one) => one.events);
  }

  private async create(
    tx: Tx,
    created: readonly NewRun[],
    judged: LockedJudgements | undefined,
  ): Promise<void> {
    const runs = await this.runs.insert(tx, created);
    await this.recorder.requested(tx, runs);
    if (judged) {
      await this.endings.write(
        tx,
        runs.map((run) => judged.outcomeOf(run)),
        judged.incidents,
      );
    } else await this.work.add(tx, TRIAGE, ...runs.map(({ id }) => ({ ref: id })));
  }

  private newRun(
    { incidentId, force, playbook }: Omit<WantedRun, 'later'>,
    requested_by: string,
  ): NewRun {
    const created_at = this.clock.now();
    return {
      id: newId(created_at.getTime()),
      incident_id: incidentId,
      requested_by,
      force,
      playbook: playbook ?? null,
      provider: this.model.provider,
      created_at,
    };
  }
}
