import { ACTION_TYPES } from '../../../action-catalogue/action-types.js';
import {
  ActionId,
  type ActionResult,
  REQUIRED_LEVELS,
  type RequiredLevel,
  shownActionId,
} from '../../../actions/action.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  Text,
  WholeNumber,
} from '../../../platform/validation/fields.js';
import { PLAYBOOK_ID, SHIPPED_NAME, VARIABLES_EXAMPLE } from '../../playbook.dto.js';
import type { PlaybookStep } from '../../playbook.js';
import {
  hasEnded,
  outcomeOf,
  PLAYBOOK_RUN_STATUSES,
  type PlaybookRun,
  type PlaybookRunStatus,
  type PlaybookRunSummary,
  type ReachedStep,
  RUN_OUTCOMES,
  type RunOutcome,
  STEP_STATUSES,
  type StepAction,
  type StepStatus,
  waitsForTurn,
} from '../playbook-run.js';

const TIME = '2026-01-31T09:30:00.000Z';
const ACTION_ID = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

class SharedActionDto {
  @ActionId({ example: ACTION_ID })
  readonly action_id: string;

  @Text({ optional: true, description: 'Who requested it.', example: 'alice' })
  readonly requested_by?: string;

  @Text({
    optional: true,
    description: 'The incident for which it was requested. Absent for a direct action.',
    example: 'INC-2026-0042',
  })
  readonly incident_number?: string;
}

class PlaybookRunStepDto {
  @Text({ example: 'quarantine' })
  readonly name: string;

  @OpenChoice('ActionTypeName', ACTION_TYPES, { example: 'quarantine_email' })
  readonly action: string;

  @Choice('PlaybookStepStatus', STEP_STATUSES, {
    description:
      '`pending`: the run has not come to it. `running`: its action is being executed. `waiting_approval`: its action waits for a person. `completed`: its action succeeded. `failed`: its action failed or was rejected, or an expression could not be evaluated. `skipped`: its condition was false. `cancelled`: the run was cancelled before it ended.',
    example: 'completed',
  })
  readonly status: StepStatus;

  @ActionId({ optional: true, example: ACTION_ID })
  readonly action_id?: string;

  @Nested(() => SharedActionDto, {
    optional: true,
    description:
      'Present if the step takes, or waits for, an action that was requested before for the same target.',
  })
  readonly shared_action?: SharedActionDto;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'When its action has or had to be approved.',
    example: 'analyst',
  })
  readonly approval_level?: RequiredLevel;

  @JsonObject({
    optional: true,
    description: 'Of its action: the templates with their values.',
    example: { message_id: '<1@mail.example.net>' },
  })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @JsonObject({
    optional: true,
    description: 'Of its action, as later steps find it in `steps.<name>.result`.',
    example: { success: true, message: 'The email was moved.' },
  })
  readonly result?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'Why it failed.' })
  readonly error?: string;

  @Instant({ optional: true, example: TIME })
  readonly started_at?: string;

  @Instant({ optional: true, example: TIME })
  readonly completed_at?: string;

  static from(
    this: void,
    { name, action }: PlaybookStep,
    reached: ReachedStep | undefined,
  ): PlaybookRunStepDto {
    if (!reached) return { name, action, status: 'pending' };
    const done = reached.action;
    return {
      name,
      action,
      status: reached.status,
      action_id: done && shownActionId(done.id),
      shared_action: done && sharedAction(done),
      approval_level: done?.approval_level,
      parameters: done?.parameters,
      result: done?.result && shownResult(done.result),
      error: reached.error,
      started_at: reached.startedAt.toISOString(),
      completed_at: reached.completedAt?.toISOString(),
    };
  }
}

function sharedAction({ id, borrowed }: StepAction): SharedActionDto | undefined {
  if (!borrowed) return undefined;
  const { requestedBy, incidentNumber } = borrowed;
  return {
    action_id: shownActionId(id),
    requested_by: requestedBy,
    incident_number: incidentNumber,
  };
}

function shownResult(result: ActionResult): Record<string, unknown> {
  const { success, message, code, simulated, data } = result;
  return { success, message, code, simulated, data };
}

const STEPS_FAILED =
  'A run that is `completed` may have some: those whose `on_error` is `continue`.';

/** What lists show of a run. */
export class PlaybookRunSummaryDto {
  @Id('PlaybookRunId', { example: '019c138d-6704-7000-a012-264bc847fa9a' })
  readonly run_id: string;

  @Id('PlaybookId', { example: PLAYBOOK_ID })
  readonly playbook_id: string;

  @WholeNumber({
    min: 1,
    description: 'It goes by this version to its end, whatever becomes of the playbook.',
    example: 2,
  })
  readonly playbook_version: number;

  @Text({
    description: 'As the playbook was called in that version.',
    example: SHIPPED_NAME,
  })
  readonly playbook: string;

  @Id('IncidentId', { optional: true })
  readonly incident_id?: string;

  @Choice('PlaybookRunStatus', PLAYBOOK_RUN_STATUSES, {
    description:
      '`running`: a step is being taken, or about to be. `waiting_approval`: an action of it waits for a person. `completed`: all steps were taken or skipped, or failed where `on_error` is `continue`. `failed`: a step failed or was rejected. `cancelled`: somebody cancelled it, its incident was deleted, or it was discarded.',
    example: 'waiting_approval',
  })
  readonly status: PlaybookRunStatus;

  @Choice('PlaybookRunEnd', RUN_OUTCOMES, {
    optional: true,
    description:
      'How it ended; absent while it is open. `partial`: it went to its end, and steps with `on_error: continue` failed.',
    example: 'partial',
  })
  readonly outcome?: RunOutcome;

  @Text({
    description: 'The principal who started it; `system` when it started by itself after a triage.',
    example: 'alice',
  })
  readonly requested_by: string;

  @Flag({ description: 'It started by itself after a triage.', example: false })
  readonly automatic: boolean;

  @WholeNumber({ min: 0, description: 'Completed or skipped ones.', example: 1 })
  readonly steps_completed: number;

  @WholeNumber({ min: 0, description: STEPS_FAILED, example: 0 })
  readonly steps_failed: number;

  @WholeNumber({ min: 0, example: 3 })
  readonly steps_total: number;

  @Text({ optional: true, description: 'Why it failed, or who or what cancelled it.' })
  readonly error?: string;

  @Instant({ example: TIME })
  readonly started_at: string;

  @Instant({
    optional: true,
    description:
      'Of an automatic run that has to wait for its turn, or had to: when it may begin. Its playbook had begun as often within an hour as `PLAYBOOK_RUNS_PER_HOUR` lets it.',
    example: TIME,
  })
  readonly starts_at?: string;

  @Instant({ optional: true, description: 'When it ended, in whichever way.', example: TIME })
  readonly completed_at?: string;

  static from(this: void, run: PlaybookRunSummary): PlaybookRunSummaryDto {
    return {
      run_id: run.id,
      playbook_id: run.playbookId,
      playbook_version: run.playbookVersion,
      playbook: run.playbookName,
      incident_id: run.incidentId,
      status: run.status,
      outcome: outcomeOf(run),
      requested_by: run.requestedBy,
      automatic: run.automatic,
      steps_completed: run.stepsCompleted,
      steps_failed: run.stepsFailed,
      steps_total: run.stepsTotal,
      error: run.error,
      started_at: run.startedAt.toISOString(),
      starts_at: waitsForTurn(run) ? run.startsAt.toISOString() : undefined,
      completed_at: run.completedAt?.toISOString(),
    };
  }
}

export class PlaybookRunDto extends PlaybookRunSummaryDto {
  @JsonObject({
    description: 'With the values that they have in this run.',
    example: VARIABLES_EXAMPLE,
  })
  readonly variables: Readonly<Record<string, unknown>>;

  @NestedList(() => PlaybookRunStepDto)
  readonly steps: readonly PlaybookRunStepDto[];

  static override from(this: void, run: PlaybookRun): PlaybookRunDto {
    const reached = new Map(run.steps.map((step) => [step.position, step]));
    return {
      ...PlaybookRunSummaryDto.from(run),
      variables: run.variables,
      steps: run.playbook.definition.steps.map((step, position) =>
        PlaybookRunStepDto.from(step, reached.get(position)),
      ),
    };
  }
}

/** The answer to the request for a run that is not a dry one. */
export class StartedPlaybookRunDto extends PlaybookRunDto {
  @Choice('PlaybookRunKind', ['run'], { description: 'Tells it from a dry run.', example: 'run' })
  readonly kind: 'run';

  @Flag({ description: 'Always false.', example: false })
  readonly dry_run: false;

  static override from(this: void, run: PlaybookRun): StartedPlaybookRunDto {
    return { kind: 'run', dry_run: false, ...PlaybookRunDto.from(run) };
  }
}

/** 202 for a run that goes on without the request. */
export function statusOfRun(run: PlaybookRun): number {
  return hasEnded(run) ? 200 : 202;
}
