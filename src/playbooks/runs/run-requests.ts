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
import type { IncidentAtStart, PlaybookRun } from './playbook-run.js';
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
  readonly incident: Incident;
  /** By whose doing the incident has its verdict. */
  readonly onBehalfOf?: string;
}

/** Creates runs. It takes no step of them. */
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

  /** For a person, who learns at once that the kill switch is on. The run is claimed: whoever calls it then carries it out. */
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
   * incident by a verdict that was as bad, or when the incident was deleted or resolved meanwhile.
   */
  async startAutomatic(
    tx: Tx,
    { playbook, incident, onBehalfOf }: WantedAutomaticRun,
  ): Promise<boolean> {
    const locked = await this.incidents.lockForShare(tx, incident.id);
    if (!locked || locked.status === 'resolved') return false;
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
    await this.recorder.started(tx, run);
    return true;
  }

  /** Nothing is lost to the limit of a playbook: what is over it begins later. */
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

function withoutRawData({ rawData: _, ...incident }: Incident): IncidentAtStart {
  return incident;
}

/** A verdict that is worse than that of an earlier run may need what the playbook did not do then. */
function badness(classification = ''): number {
  return ['inconclusive', 'suspicious', 'malicious'].indexOf(classification);
}
