import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { IncidentsService } from '../incidents/incidents.service.js';
import { Settings } from '../platform/config/settings.js';
import { Transactions } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { ModelUnavailableError } from './model/model.errors.js';
import { TriageModel } from './model/triage-model.port.js';
import { type RunListRequest, TriageRunsRepository } from './records/triage-runs.repository.js';
import { RunQueue } from './runs/run-queue.js';
import { RunRequests, type WantedRun } from './runs/run-requests.js';
import { TokenBudget } from './runs/run-obstacles.js';
import { stillAnswers } from './runs/run-rules.js';
import { type RunOutcome, TriageRunner, type Waiting } from './runs/triage-runner.js';
import { TriageGuidance } from './triage-guidance.js';
import { AiUnavailableError, TriageInProgressError, unknownPlaybook } from './triage.errors.js';
import type { TriageRun, TriageRunSummary } from './triage-run.js';

export interface WantedTriage extends WantedRun {
  /** The caller does not wait for the verdict. */
  readonly later: boolean;
}

const GRACE_MS = 5_000;

@Injectable()
export class TriageService {
  constructor(
    private readonly incidents: IncidentsService,
    private readonly guidance: TriageGuidance,
    private readonly requests: RunRequests,
    private readonly runs: TriageRunsRepository,
    private readonly runner: TriageRunner,
    private readonly queue: RunQueue,
    private readonly budget: TokenBudget,
    private readonly model: TriageModel,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
  ) {}

  /** How long an answer may be on its way: longer than a run may take. */
  get answeredWithinMs(): number {
    return this.settings.triageTimeoutMs + GRACE_MS;
  }

  /**
   * Triages an incident, unless that was done before and nobody forces it. The run that it answers with is completed; or it
   * waits, because the caller does not, or because the service stopped in the middle of it.
   */
  async triage(
    caller: Principal,
    { later, ...given }: WantedTriage,
    idempotency: Waiting,
  ): Promise<TriageRun> {
    const { playbook, force } = given;
    if (playbook !== undefined && !(await this.guidance.find(playbook))) throw unknownPlaybook();
    const incident = await this.incidents.get(given.incidentId);
    const wanted = { ...given, incidentId: incident.id };
    const done = force ? undefined : await this.runs.lastCompleted(incident.id);
    if (done && stillAnswers(done, incident)) return done;
    const { unusable } = this.model;
    if (unusable) throw new AiUnavailableError(unusable);
    const open = await this.runs.open(wanted.incidentId);
    if (open?.status === 'running') throw new TriageInProgressError(open);
    return later
      ? await this.queueRun(caller, wanted, idempotency)
      : await this.waitForRun(caller, wanted, idempotency);
  }

  async list(incidentId: string, request: RunListRequest): Promise<Page<TriageRunSummary>> {
    const { id } = await this.incidents.get(incidentId);
    return await this.transactions.snapshot((snapshot) => this.runs.list(snapshot, id, request));
  }

  async get(incidentId: string, id: string): Promise<TriageRun> {
    const incident = await this.incidents.get(incidentId);
    const run = isUuid(id) ? await this.runs.find(incident.id, id) : undefined;
    if (!run) throw new NotFoundError('Triage run');
    return run;
  }

  private async queueRun(
    caller: Principal,
    wanted: WantedRun,
    { completed }: Waiting,
  ): Promise<TriageRun> {
    const run = await this.requests.queue(caller, wanted, completed);
    this.queue.wake();
    return run;
  }

  private async waitForRun(
    caller: Principal,
    wanted: WantedRun,
    idempotency: Waiting,
  ): Promise<TriageRun> {
    const shortage = await this.budget.shortage();
    if (shortage) throw new AiUnavailableError(shortage, shortage.extras);
    const claimed = await this.requests.begin(caller, wanted, idempotency.completed);
    const outcome = await this.runner.run(claimed, idempotency);
    if (outcome.run.status === 'failed' || outcome.cause) throw errorOf(outcome);
    return outcome.run;
  }
}

function errorOf({ run, cause }: RunOutcome): unknown {
  if (cause instanceof ModelUnavailableError)
    return new AiUnavailableError(run.error!, cause.extras);
  // Without a cause another replica has ended the run.
  return cause ?? new AiUnavailableError(run.error!);
}
