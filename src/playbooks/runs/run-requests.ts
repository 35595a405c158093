import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../actions/action.js';
import type { Principal } from '../../auth/principal.js';
import type { Incident } from '../../incidents/incident.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import type { PlaybookVersion } from '../playbook.js';
import { type IncidentAtStart, type PlaybookRun, waitsForTurn } from './playbook-run.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';
import { RunRecorder } from './records/run-recorder.js';

export interface WantedPlaybookRun {
  readonly playbook: PlaybookVersion;
  readonly incident?: Incident;
  /** Every variable of the playbook, with its value in this run. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface WantedAutomaticRun {
  readonly playbook: PlaybookVersion;
  /** Locked by the transaction that begins the run, and not resolved. */
  readonly incident: Incident;
  /** Person who caused the verdict of the incident. */
  readonly onBehalfOf?: string;
}

/** Creates runs. PlaybookRunner takes their steps. */
@Injectable()
export class RunRequests {
  constructor(
    private readonly transactions: Transactions,
    private readonly incidents: IncidentsService,
    private readonly killSwitch: KillSwitch,
    private readonly runs: PlaybookRunsRepository,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Whether automatic runs of a playbook begin one after the other, at a limited rate. */
  get areLimited(): boolean {
    return this.settings.playbookRunsPerHour > 0;
  }

  /** Locks the playbooks among `ids` for startAutomatic. */
  async lockTurns(tx: Tx, ids: readonly string[]): Promise<void> {
    if (this.areLimited) await this.runs.lockPlaybooks(tx, ids);
  }

  /** Creates a run for a person and claims it for the caller, who then carries it on. Throws `kill_switch_active`. */
  async start(
    caller: Principal,
    wanted: WantedPlaybookRun,
    idempotency: Participant<PlaybookRun>,
  ): Promise<PlaybookRun> {
    return await this.transactions.run<PlaybookRun>(
      async (tx) => {
        await this.killSwitch.claimPermit(tx);
        if (wanted.incident && !(await this.incidents.lockForShare(tx, wanted.incident.id))) {
          throw new NotFoundError('Incident');
        }
        const run = { ...this.newRun(wanted, caller.name), fence: 1, attempts: 1 };
        await this.runs.insert(tx, { ...run, claimForMs: this.settings.actionLeaseMs });
        await this.recorder.started(tx, run);
        return run;
      },
      caller,
      idempotency,
    );
  }

  /**
   * For what no person asks for: it waits for any replica, and for the kill switch. False when the version has run for this
   * incident by a verdict that was as bad.
   */
  async startAutomatic(
    tx: Tx,
    { playbook, incident, onBehalfOf }: WantedAutomaticRun,
  ): Promise<boolean> {
    const { variables } = playbook.definition;
    const wanted = { playbook, incident, variables };
    const { id: playbookId, version: playbookVersion } = playbook;
    const which = { playbookId, playbookVersion, incidentId: incident.id };
    const earlier = await this.runs.automaticallyRunFor(tx, which);
    const isWorse = earlier.every(
      (one) => badness(one) < badness(incident.verdict?.classification),
    );
    if (!isWorse) return false;
    const run = await this.inTurn(tx, {
      ...this.newRun(wanted, SYSTEM),
      automatic: true,
      onBehalfOf,
    });
    if (!(await this.runs.insert(tx, run))) return false;
    const earlierTurn = waitsForTurn(run)
      ? await this.runs.orderTurns(tx, playbookId, run.id)
      : undefined;
    await this.recorder.started(tx, { ...run, startsAt: earlierTurn ?? run.startsAt });
    return true;
  }

  /** The playbooks whose waiting runs may change their order, because the severity of these incidents changed. */
  async playbooksWaitingFor(tx: Tx, incidentIds: readonly string[]): Promise<readonly string[]> {
    if (!this.areLimited || incidentIds.length === 0) return [];
    return await this.runs.waitingFor(tx, incidentIds);
  }

  /** The playbook is locked: see lockTurns. */
  async orderTurns(tx: Tx, playbookId: string): Promise<void> {
    await this.runs.orderTurns(tx, playbookId);
  }

  /** A run over the limit of its playbook begins later. */
  private async inTurn(tx: Tx, run: PlaybookRun): Promise<PlaybookRun> {
    const limit = this.settings.playbookRunsPerHour;
    if (limit === 0) return run;
    return { ...run, startsAt: await this.runs.turnOf(tx, run.playbookId, limit, run.startedAt) };
  }

  private newRun(
    { playbook, incident, variables }: WantedPlaybookRun,
    requestedBy: string,
  ): PlaybookRun {
    const startedAt = this.clock.now();
    const { definition } = playbook;
    return {
      id: newId(startedAt.getTime()),
      playbookId: playbook.id,
      playbookVersion: playbook.version,
      playbookName: playbook.name,
      incidentId: incident?.id,
      status: 'running',
      requestedBy,
      automatic: false,
      variables,
      incident: incident && withoutRawData(incident),
      stepsCompleted: 0,
      stepsFailed: 0,
      stepsTotal: definition.steps.length,
      fence: 0,
      wakes: 0,
      attempts: 0,
      startedAt,
      playbook,
      steps: [],
    };
  }
}

function withoutRawData({ raw_data: _, ...incident }: Incident): IncidentAtStart {
  return incident;
}

/** Order of the verdicts. A worse verdict may need steps that the earlier run skipped. */
function badness(classification = ''): number {
  return ['inconclusive', 'suspicious', 'malicious'].indexOf(classification);
}
