import { PickType } from '@nestjs/swagger';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { ActionId, REQUIRED_LEVELS, type RequiredLevel } from '../../actions/action.js';
import { IncidentReference } from '../../incidents/incident-reference.js';
import {
  AlwaysTrue,
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
} from '../../platform/validation/fields.js';
import { sortWords, PageQueryDto } from '../../platform/paging/page.js';
import { Words } from '../../platform/validation/query-fields.js';

const OPEN = ['running', 'waiting_approval'] as const;
export const PLAYBOOK_RUN_STATUSES = [...OPEN, 'completed', 'failed', 'cancelled'] as const;
type PlaybookRunStatus = (typeof PLAYBOOK_RUN_STATUSES)[number];

const STEP_STATUSES = ['pending', ...OPEN, 'completed', 'failed', 'skipped', 'cancelled'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Outcomes of a run. `partial`: the run reached its end, but steps with `on_error: continue` failed. */
export const RUN_OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export const LONGEST_VARIABLES = 32_768;

class SharedActionDto {
  @ActionId()
  readonly action_id: string;

  @Text({ optional: true, description: 'Requester of the action.' })
  readonly requested_by?: string;

  @Text({ optional: true, description: 'Incident of the action. Absent for a direct action.' })
  readonly incident_number?: string;
}

class PlaybookRunStepDto {
  @Text()
  readonly name: string;

  @OpenChoice('ActionTypeName', ACTION_TYPES)
  readonly action: string;

  @Choice('PlaybookStepStatus', STEP_STATUSES, {
    description:
      '`pending`: the run has not reached it. `running`: its action is being executed. `waiting_approval`: its action waits for an approval. `completed`: its action succeeded. `failed`: its action failed or was rejected, or an expression could not be evaluated. `skipped`: its condition was false. `cancelled`: the run was cancelled before it ended.',
  })
  readonly status: StepStatus;

  @ActionId({ optional: true })
  readonly action_id?: string;

  @Nested(() => SharedActionDto, { optional: true, description: 'Earlier action that it uses.' })
  readonly shared_action?: SharedActionDto;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'Approval level that the action requires, or required before the decision.',
  })
  readonly approval_level?: RequiredLevel;

  @JsonObject({ optional: true, description: 'Parameters with the values of their templates.' })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @JsonObject({ optional: true, description: 'Result, which later steps can read.' })
  readonly result?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'Reason of the failure.' })
  readonly error?: string;

  @Instant({ optional: true })
  readonly started_at?: Date;

  @Instant({ optional: true })
  readonly completed_at?: Date;
}

export class PlaybookRunSummaryDto {
  @Id('PlaybookRunId')
  readonly run_id: string;

  @Id('PlaybookId')
  readonly playbook_id: string;

  @WholeNumber({ min: 1, description: 'A run keeps its version when the playbook changes.' })
  readonly playbook_version: number;

  @Text({ description: 'Name of the playbook in that version.' })
  readonly playbook: string;

  @Id('IncidentId', { optional: true })
  readonly incident_id?: string;

  @Choice('PlaybookRunStatus', PLAYBOOK_RUN_STATUSES, {
    description:
      '`running`: a step is being taken, or waits for its turn. `waiting_approval`: an action waits for an approval. `completed`: all steps were taken or skipped, or failed with `on_error: continue`. `failed`: a step failed or was rejected. `cancelled`: a person or a restore cancelled it, its incident was deleted or resolved, or it was discarded.',
  })
  readonly status: PlaybookRunStatus;

  @Choice('PlaybookRunEnd', RUN_OUTCOMES, {
    optional: true,
    description:
      'How the run ended. Absent while it is open. `partial`: all steps were taken, and steps with `on_error: continue` failed.',
  })
  readonly outcome?: RunOutcome;

  @Text({ description: 'Principal who started the run; `system` for an automatic run.' })
  readonly requested_by: string;

  @Flag({ description: 'Whether a triage started the run.' })
  readonly automatic: boolean;

  @WholeNumber({ min: 0, description: 'Completed and skipped steps.' })
  readonly steps_completed: number;

  @WholeNumber({ min: 0, description: 'Failed steps, also of a `completed` run.' })
  readonly steps_failed: number;

  @WholeNumber({ min: 0 })
  readonly steps_total: number;

  @Text({ optional: true, description: 'Reason of the failure or of the cancellation.' })
  readonly error?: string;

  @Instant()
  readonly started_at: Date;

  @Instant({
    optional: true,
    description:
      'Earliest start of an automatic run that waits or waited because its playbook had reached `PLAYBOOK_RUNS_PER_HOUR`.',
  })
  readonly starts_at?: Date;

  @Instant({ optional: true, description: 'Time of the end.' })
  readonly completed_at?: Date;
}

export class PlaybookRunDto extends PlaybookRunSummaryDto {
  @JsonObject({ description: 'Variables with their values in this run.' })
  readonly variables: Readonly<Record<string, unknown>>;

  @NestedList(() => PlaybookRunStepDto)
  readonly steps: readonly PlaybookRunStepDto[];
}

export class StartedPlaybookRunDto extends PlaybookRunDto {
  @Choice('PlaybookRunKind', ['run'], { description: 'Distinguishes a run from a dry run.' })
  readonly kind: 'run';

  @Flag({ description: 'Always false.' })
  readonly dry_run: false;
}

export class PlaybookRunRequestDto {
  @IncidentReference({ optional: true, description: 'Id or number of the incident.' })
  readonly incident_id?: string;

  @JsonObject({
    optional: true,
    description: `Values that replace the defaults of variables, with the same types. At most ${LONGEST_VARIABLES} characters as JSON.`,
  })
  readonly variables?: Record<string, unknown>;

  @Flag({ optional: true, default: false, description: 'Only returns the effect of each step.' })
  readonly dry_run?: boolean = false;
}

const DRY_DECISIONS = ['run', 'skip', 'undecided', 'error', 'not_reached'] as const;
export type DryDecision = (typeof DRY_DECISIONS)[number];

export class DryRunStepDto extends PickType(PlaybookRunStepDto, [
  'name',
  'action',
  'parameters',
  'error',
]) {
  @Choice('DryDecision', DRY_DECISIONS, {
    description:
      'What the step would do. `undecided`: it reads the result of a step that only a real run takes; it has `parameters` if only its condition is unknown. `error`: it would fail. `not_reached`: an error before it ends the run.',
  })
  readonly decision: DryDecision;

  @Flag({ description: 'Whether an enabled connector provides the action.' })
  readonly available: boolean;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Approval level that the action would need. For an `undecided` step: the minimum level, because the target is not known.',
  })
  readonly approval_level?: RequiredLevel;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'The `approval_level` of the step in an automatic run, if the playbook has `auto_run`.',
  })
  readonly automatic_approval_level?: RequiredLevel;
}

export class PlaybookDryRunDto extends PickType(PlaybookRunDto, [
  'playbook_id',
  'playbook_version',
  'playbook',
  'incident_id',
  'steps_completed',
  'steps_total',
  'variables',
]) {
  @Choice('PlaybookDryRunKind', ['dry_run'], { description: 'Distinguishes a dry run from a run.' })
  readonly kind: 'dry_run';

  @AlwaysTrue()
  readonly dry_run: true;

  @NestedList(() => DryRunStepDto)
  readonly steps: readonly DryRunStepDto[];
}

const SORTS = sortWords('created_at');

export class PlaybookRunsQueryDto extends PageQueryDto {
  @Words('PlaybookRunStatus', PLAYBOOK_RUN_STATUSES, { optional: true })
  readonly status?: readonly PlaybookRunStatus[];

  @Words('PlaybookRunEnd', RUN_OUTCOMES, { optional: true })
  readonly outcome?: readonly RunOutcome[];

  @IncidentReference({ optional: true, description: 'Incident id or number.', example: undefined })
  readonly incident_id?: string;

  @Instant({ optional: true, description: 'Runs that started at or after this time.' })
  readonly from?: string;

  @Instant({ optional: true, description: 'Runs that started at or before this time.' })
  readonly to?: string;

  @Choice('PlaybookRunSort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

export class AllPlaybookRunsQueryDto extends PlaybookRunsQueryDto {
  @Id('PlaybookId', { optional: true, description: 'Id, also a deleted one.', example: undefined })
  readonly playbook_id?: string;
}
