import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RequiredLevel, SYSTEM } from '../../actions/action.js';
import { ActionEndings } from '../../actions/execution/action-endings.js';
import { RequiredLevels } from '../../actions/required-levels.js';
import { type Principal, requireApprovalLevel } from '../../auth/principal.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import { IncidentsService } from '../../incidents/incidents.service.js';
import { Incidents } from '../../incidents/incidents.js';
import { KillSwitch } from '../../kill-switch/kill-switch.js';
import type { ApprovalLevel } from '../../platform/access/roles.js';
import { Clock } from '../../platform/clock.js';
import { reportFailure } from '../../platform/concurrency/background-loop.js';
import { within } from '../../platform/concurrency/within.js';
import { Settings } from '../../platform/config/settings.js';
import { type Participant, Transactions, type Tx } from '../../platform/database/transactions.js';
import { AppError, NotFoundError, ValidationError } from '../../platform/errors/app-error.js';
import { isUuid } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import { present } from '../../platform/validation/present.js';
import { Work } from '../../platform/work/work.js';
import type { Decision, Outcomes } from '../language/decide-step.js';
import { PlaybooksService } from '../playbooks.service.js';
import { deciderOf, levelsOf } from './next-move.js';
import {
  newRun,
  type PlaybookRun,
  type PlaybookRunWithSteps,
  RUN_WORK,
  type StepAction,
  variableErrors,
  type WantedRun,
} from './playbook-run.js';
import { RunRecorder } from './run-records.js';
import {
  type AllPlaybookRunsQueryDto,
  type DryRunStepDto,
  PlaybookDryRunDto,
  type PlaybookRunRequestDto,
} from './runs.dto.js';
import { RunsRepository } from './runs.repository.js';

type RunRequest = Pick<PlaybookRunRequestDto, 'incident_id' | 'variables'>;

const LOOK_MS = 100;

const CANCELLED = 'Its playbook run was cancelled.';

@Injectable()
export class RunsService implements OnModuleInit {
  private readonly log = new Logger('Playbooks');

  constructor(
    private readonly transactions: Transactions,
    private readonly playbooks: PlaybooksService,
    private readonly incidents: Incidents,
    private readonly incidentChanges: IncidentsService,
    private readonly actionEndings: ActionEndings,
    private readonly killSwitch: KillSwitch,
    private readonly work: Work,
    private readonly runs: RunsRepository,
    private readonly levels: RequiredLevels,
    private readonly registry: ConnectorRegistry,
    private readonly recorder: RunRecorder,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    type Cancelled = Parameters<RunsRepository['cancel']>;
    const cancel = async (tx: Tx, which: Cancelled[1], id: Cancelled[2], why: string, by: string) =>
      await this.ended(tx, await this.runs.cancel(tx, which, id, why, this.clock.now()), by);
    this.killSwitch.register('playbook_runs', {
      count: () => this.runs.countHeld(),
      discard: (tx, { name }) =>
        cancel(tx, 'held', null, `Discarded by ${name}, who turned the kill switch off.`, SYSTEM),
    });
    // The module of actions has registered before, so waiting actions are rejected before runs are cancelled.
    this.incidentChanges.registerEnding({
      pending: 'runs',
      end: (tx, incidentId, by, why) => cancel(tx, 'incident', incidentId, why, by),
    });
  }

  /** Starts a run. After the run is created, throws no error: the caller would retry and start a second run. */
  async run(
    caller: Principal,
    playbook: string,
    request: RunRequest,
    idempotency: Participant<PlaybookRunWithSteps>,
  ): Promise<PlaybookRunWithSteps> {
    const wanted = await this.wanted(playbook, request);
    const { name, definition } = wanted.playbook;
    if (!definition.enabled) {
      const message = `The playbook ${name} is disabled: it starts no run.`;
      throw new AppError('invalid_state', message, { details: { reason: 'playbook_disabled' } });
    }
    let attempt: Promise<void> | undefined;
    const started = await this.transactions.run<PlaybookRunWithSteps>(
      async (tx) => {
        await this.killSwitch.claimPermit(tx);
        const { playbook: version, incident } = wanted;
        if (incident && !(await this.incidents.lockForShare(tx, incident.id))) {
          throw new NotFoundError('Incident');
        }
        const run = newRun(wanted, caller.name, this.clock.now());
        await this.runs.insert(tx, [run]);
        await this.recorder.started(tx, run);
        attempt = (await this.work.addClaimed(tx, RUN_WORK, [{ ref: run.id }])).get(run.id);
        return { ...run, playbook: version, steps: [] };
      },
      caller,
      idempotency,
    );
    try {
      return await this.rested(started.id, attempt);
    } catch (error) {
      reportFailure(this.log, `Reading the playbook run ${started.id}`, error);
      return started;
    }
  }

  async dryRun(reference: string, request: RunRequest): Promise<PlaybookDryRunDto> {
    const wanted = await this.wanted(reference, request);
    const { playbook, incident } = wanted;
    const { auto_run, steps: planned } = playbook.definition;
    const available = await this.registry.availableTypes();
    const decider = await deciderOf(wanted);
    const automaticLevels = auto_run ? await levelsOf(playbook.definition, true) : [];
    const outcomes: Record<string, Outcomes[string]> = {};
    const steps: DryRunStepDto[] = [];
    let isOver = false;
    for (const [position, { name, action, on_error, ...step }] of planned.entries()) {
      const decided: Partial<Decision> = isOver ? {} : await decider.decide(position, outcomes);
      const { kind: decision = 'not_reached' as const, parameters, message: error } = decided;
      isOver ||= decision === 'error' && on_error === 'stop';
      const mayAct = decision === 'run' || decision === 'undecided';
      const failure = error === undefined ? {} : { result: { success: false, message: error } };
      outcomes[name] = mayAct ? undefined : failure;
      const levelOf = (approval_level?: ApprovalLevel): RequiredLevel | undefined => {
        if (!approval_level || !mayAct) return undefined;
        const target = { action_type: action, parameters: parameters ?? step.parameters, incident };
        const level = this.levels.forRequest({ ...target, approval_level });
        return level === 'none' ? undefined : level;
      };
      const approval_level = levelOf(decider.askedLevels[position]);
      const automatic_approval_level = levelOf(automaticLevels[position]);
      const shown = { name, action, decision, available: available.has(action), parameters, error };
      steps.push({ ...shown, approval_level, automatic_approval_level });
    }
    const run = newRun(wanted, SYSTEM, this.clock.now());
    const shown = { ...run, playbook: playbook.name, steps };
    return present(PlaybookDryRunDto)({ ...shown, kind: 'dry_run', dry_run: true });
  }

  async list(request: AllPlaybookRunsQueryDto, playbook?: string): Promise<Page<PlaybookRun>> {
    if (playbook === undefined) return await this.runs.list(request);
    return await this.runs.list({ ...request, playbook_id: await this.playbooks.idOf(playbook) });
  }

  async get(runId: string, playbook?: string): Promise<PlaybookRunWithSteps> {
    const playbookId = playbook === undefined ? undefined : await this.playbooks.idOf(playbook);
    const run = isUuid(runId) ? await this.runs.find(runId) : undefined;
    if (!run || run.playbook_id !== (playbookId ?? run.playbook_id)) {
      throw new NotFoundError('Playbook run');
    }
    return run;
  }

  /** Withdraws the run's own action if it has not begun. Actions that another run or a person requested continue. */
  async cancel(
    caller: Principal,
    playbook: string,
    runId: string,
    idempotency: Participant<PlaybookRunWithSteps>,
  ): Promise<PlaybookRunWithSteps> {
    const run = await this.get(runId, playbook);
    return await this.transactions.run<PlaybookRunWithSteps>(
      async (tx) => {
        // Locks the incident first, in the lock order of approvals and deletions.
        if (run.incident_id !== null) await this.incidents.lockForShare(tx, run.incident_id);
        const why = `Cancelled by ${caller.name}.`;
        const [cancelled] = await this.runs.cancel(tx, 'runs', [run.id], why, this.clock.now());
        if (!cancelled) throw new AppError('invalid_state', 'The playbook run has ended.');
        const steps = (await this.runs.stepsOf([run.id], tx))(run.id);
        const open = steps.find(({ status }) => status === 'cancelled')?.action;
        if (open && !open.borrowed) await this.stop(tx, caller, open, run.requested_by);
        await this.ended(tx, [cancelled], caller.name);
        return { ...cancelled, playbook: run.playbook, steps };
      },
      caller,
      idempotency,
    );
  }

  private async rested(id: string, attempt?: Promise<void>): Promise<PlaybookRunWithSteps> {
    const { actionWaitMs } = this.settings;
    const deadline = performance.now() + actionWaitMs;
    if (attempt) await within(actionWaitMs, attempt, () => undefined);
    for (;;) {
      const run = await this.get(id);
      if (run.status !== 'running' || performance.now() > deadline) return run;
      await sleep(LOOK_MS);
    }
  }

  private async stop(
    tx: Tx,
    caller: Principal,
    { id, status, approval_level }: StepAction,
    startedBy: string,
  ): Promise<void> {
    if (status === 'pending_approval') {
      if (caller.name !== startedBy) requireApprovalLevel(caller, approval_level ?? 'none');
      await this.actionEndings.reject(tx, { id, status }, caller.name, CANCELLED);
    } else if (!approval_level) {
      await this.actionEndings.withdraw(tx, { id }, caller.name, CANCELLED);
    }
  }

  private async ended(tx: Tx, cancelled: readonly PlaybookRun[], by: string): Promise<number> {
    for (const run of cancelled) await this.recorder.ended(tx, run, by);
    const ids = cancelled.map(({ id }) => id);
    await this.work.cancel(tx, RUN_WORK, ids);
    return ids.length;
  }

  private async wanted(
    nameOrId: string,
    { incident_id, variables = {} }: RunRequest,
  ): Promise<WantedRun> {
    const playbook = await this.playbooks.get(nameOrId);
    const defaults = playbook.definition.variables;
    const errors = variableErrors(defaults, variables);
    if (errors.length > 0) throw new ValidationError(errors);
    const incident = incident_id === undefined ? undefined : await this.incidents.get(incident_id);
    return { playbook, incident, variables: { ...defaults, ...variables } };
  }
}
