import { Injectable, Logger } from '@nestjs/common';
import { ActionWork } from '../../actions/execution/action-work.js';
import type { Principal } from '../../auth/principal.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { reportFailure } from '../../platform/concurrency/background-loop.js';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import type { Participant } from '../../platform/database/transactions.js';
import { ValidationError } from '../../platform/errors/app-error.js';
import { isUuid } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import { PlaybookNotFoundError, type PlaybookVersion } from '../playbook.js';
import { PlaybooksService } from '../playbooks.service.js';
import { type DryRun, DryRuns } from './dry-run.js';
import { RunListRepository, type RunListRequest } from './listing/run-list.repository.js';
import {
  PlaybookDisabledError,
  type PlaybookRun,
  PlaybookRunNotFoundError,
  type PlaybookRunSummary,
} from './playbook-run.js';
import { PlaybookRunner } from './playbook-runner.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';
import { RunCancellation } from './run-cancellation.js';
import { RunRequests, type WantedPlaybookRun } from './run-requests.js';
import { variableErrors, variablesOf } from './run-variables.js';

export interface RunRequest {
  readonly incident_id?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Requests of people about runs. `playbook` is an id or a name. */
@Injectable()
export class PlaybookRunsService {
  private readonly log = new Logger('Playbooks');

  constructor(
    private readonly playbooks: PlaybooksService,
    private readonly incidents: IncidentsService,
    private readonly requests: RunRequests,
    private readonly dryRuns: DryRuns,
    private readonly runner: PlaybookRunner,
    private readonly cancellation: RunCancellation,
    private readonly runs: PlaybookRunsRepository,
    private readonly lists: RunListRepository,
    private readonly actions: ActionWork,
    private readonly settings: Settings,
  ) {}

  /** Maximum time of a response. */
  get answeredWithinMs(): number {
    return this.actions.answeredWithinMs;
  }

  /**
   * Starts a run and waits for its end for at most `ACTION_WAIT_MS`. Does not return errors that occur after the run was
   * created: the caller would retry and start a second run.
   */
  async run(
    caller: Principal,
    playbook: string,
    request: RunRequest,
    idempotency: Participant<PlaybookRun>,
  ): Promise<PlaybookRun> {
    const wanted = await this.wanted(playbook, request);
    const { name, definition } = wanted.playbook;
    if (!definition.enabled) throw new PlaybookDisabledError(name);
    const started = await this.requests.start(caller, wanted, idempotency);
    await within(this.settings.actionWaitMs, this.runner.carryOn(started), () => undefined);
    try {
      const run = await this.runs.find(started.id);
      return run ? await this.withSteps(run, wanted.playbook) : started;
    } catch (error) {
      reportFailure(this.log, `Reading the playbook run ${started.id}`, error);
      return started;
    }
  }

  /** Is also possible for a disabled playbook, and while the kill switch is on. */
  async dryRun(playbook: string, request: RunRequest): Promise<DryRun> {
    return await this.dryRuns.of(await this.wanted(playbook, request));
  }

  async listOf(playbook: string, request: RunListRequest): Promise<Page<PlaybookRunSummary>> {
    return await this.list({ ...request, playbook_id: await this.idOf(playbook) });
  }

  async list(request: RunListRequest): Promise<Page<PlaybookRunSummary>> {
    return await this.lists.list(request);
  }

  async get(playbook: string, runId: string): Promise<PlaybookRun> {
    const id = await this.idOf(playbook);
    const run = await this.find(runId);
    if (run.playbookId !== id) throw new PlaybookRunNotFoundError();
    return run;
  }

  /** Reads a run by its id alone, because actions know only the id of their run. */
  async find(runId: string): Promise<PlaybookRun> {
    const run = isUuid(runId) ? await this.runs.find(runId) : undefined;
    const version = run && (await this.playbooks.versionOf(run.playbookId, run.playbookVersion));
    if (!run || !version) throw new PlaybookRunNotFoundError();
    return await this.withSteps(run, version);
  }

  async cancel(
    caller: Principal,
    playbook: string,
    runId: string,
    idempotency: Participant<PlaybookRun>,
  ): Promise<PlaybookRun> {
    return await this.cancellation.cancel(caller, await this.get(playbook, runId), idempotency);
  }

  private async withSteps(
    run: PlaybookRunSummary,
    playbook: PlaybookVersion,
  ): Promise<PlaybookRun> {
    return { ...run, playbook, steps: await this.runs.stepsOf(run.id) };
  }

  private async wanted(
    nameOrId: string,
    { incident_id, variables = {} }: RunRequest,
  ): Promise<WantedPlaybookRun> {
    const playbook = await this.playbooks.find(nameOrId);
    if (!playbook) throw new PlaybookNotFoundError();
    const defaults = playbook.definition.variables;
    const errors = variableErrors(defaults, variables);
    if (errors.length > 0) throw new ValidationError(errors);
    const incident = incident_id === undefined ? undefined : await this.incidents.get(incident_id);
    return { playbook, incident, variables: variablesOf(defaults, variables) };
  }

  /** A deleted playbook is found by its id only, because another playbook may have its name. */
  private async idOf(nameOrId: string): Promise<string> {
    const found = await this.playbooks.find(nameOrId);
    if (found) return found.id;
    const firstVersion = isUuid(nameOrId) && (await this.playbooks.versionOf(nameOrId, 1));
    if (!firstVersion) throw new PlaybookNotFoundError();
    return firstVersion.id;
  }
}
