import { Injectable } from '@nestjs/common';
import type { Principal } from '../auth/principal.js';
import { Incidents } from '../incidents/incidents.js';
import { Settings } from '../platform/config/settings.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import { isUuid } from '../platform/ids.js';
import type { Page } from '../platform/paging/page.js';
import { PlaybooksService } from '../playbooks/playbooks.service.js';
import { ModelUnavailableError, TriageModel } from './model/triage-model.port.js';
import { type RunListRequest, TriageRunsRepository } from './records/triage-runs.repository.js';
import type { Waiting } from './runs/asked-triage.js';
import { runErrorOf, stillAnswers } from './runs/run-rules.js';
import { type RunOutcome, RunRequests, type WantedRun } from './runs/run-requests.js';
import { TokenBudget } from './runs/token-budget.js';
import { AiUnavailableError, TriageInProgressError, unknownPlaybook } from './triage.errors.js';
import type { TriageRun } from './triage-run.js';

const GRACE_MS = 5_000;

@Injectable()
export class TriageService {
  constructor(
    private readonly incidents: Incidents,
    private readonly playbooks: PlaybooksService,
    private readonly requests: RunRequests,
    private readonly runs: TriageRunsRepository,
    private readonly budget: TokenBudget,
    private readonly model: TriageModel,
    private readonly settings: Settings,
  ) {}

  /** Maximum time until a response: longer than a run may take. */
  get answeredWithinMs(): number {
    return this.settings.triageTimeoutMs + GRACE_MS;
  }

  /**
   * Triages an incident, unless that was done before and `force` is not set. The returned run is completed; or it waits,
   * because the caller does not, or because the service stopped during the attempt.
   */
  async triage(caller: Principal, wanted: WantedRun, waiting: Waiting): Promise<TriageRun> {
    const { playbook, force, later } = wanted;
    const isKnown = playbook === undefined || (await this.playbooks.findEnabled(playbook));
    if (!isKnown) throw unknownPlaybook();
    const incident = await this.incidents.get(wanted.incidentId);
    const { id: incidentId } = incident;
    const { open, completed } = (await this.runs.known([incidentId])).get(incidentId) ?? {};
    if (completed && !force && stillAnswers(completed, incident)) {
      return await this.get(incidentId, completed.id);
    }
    const { unusable } = this.model;
    if (unusable) throw new AiUnavailableError(unusable);
    if (open?.status === 'running') throw new TriageInProgressError(open);
    const isAsked = this.model.asksOutside && !later;
    const shortage = isAsked ? await this.budget.shortage() : undefined;
    if (shortage) throw new AiUnavailableError(shortage, shortage.extras);
    const outcome = await this.requests.request(caller, { ...wanted, incidentId }, waiting);
    if (outcome.run.status === 'failed' || outcome.cause) throw errorOf(outcome);
    return outcome.run;
  }

  async list(incidentId: string, request: RunListRequest): Promise<Page<TriageRun>> {
    const { id } = await this.incidents.get(incidentId);
    const { items, total } = await this.runs.list(id, request);
    return { items: items.map((run) => this.withProvider(run)), total };
  }

  async get(incidentId: string, id: string): Promise<TriageRun> {
    const incident = await this.incidents.get(incidentId);
    const run = isUuid(id) ? await this.runs.find(incident.id, id) : undefined;
    if (!run) throw new NotFoundError('Triage run');
    return this.withProvider(run);
  }

  /** A run that waits will ask the present provider, whatever the settings were before. */
  private withProvider(run: TriageRun): TriageRun {
    if (run.status !== 'queued') return run;
    const { provider, unusable } = this.model;
    if (!unusable) return { ...run, provider };
    return { ...run, provider, error: runErrorOf(unusable), next_attempt_at: null };
  }
}

function errorOf({ run, cause }: RunOutcome): unknown {
  if (!(cause instanceof ModelUnavailableError)) return cause ?? new AiUnavailableError(run.error!);
  return new AiUnavailableError(runErrorOf(cause), cause.extras);
}
