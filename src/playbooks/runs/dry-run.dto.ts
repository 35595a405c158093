import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { REQUIRED_LEVELS, type RequiredLevel } from '../../actions/action.js';
import {
  AlwaysTrue,
  Choice,
  Flag,
  Id,
  JsonObject,
  NestedList,
  OpenChoice,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import { PLAYBOOK_ID, SHIPPED_NAME, VARIABLES_EXAMPLE } from '../playbook.dto.js';
import type { WantedRun } from './runs.repository.js';

const DRY_DECISIONS = ['run', 'skip', 'undecided', 'error', 'not_reached'] as const;
export type DryDecision = (typeof DRY_DECISIONS)[number];

export class DryRunStepDto {
  @Text({ example: 'quarantine' })
  readonly name: string;

  @OpenChoice('ActionTypeName', ACTION_TYPES, { example: 'quarantine_email' })
  readonly action: string;

  @Choice('DryDecision', DRY_DECISIONS, {
    description:
      'What the step would do. `undecided`: it reads the result of a step that only a real run takes. `error`: it would fail. `not_reached`: an error before it ends the run.',
    example: 'run',
  })
  readonly decision: DryDecision;

  @Flag({ description: 'Whether an enabled connector provides the action.', example: true })
  readonly available: boolean;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Level at which the action would need approval. Of an `undecided` step: the minimum, because its target is not known.',
    example: 'analyst',
  })
  readonly approval_level?: RequiredLevel;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'The `approval_level` of the step in an automatic run, if the playbook has `auto_run`.',
    example: 'analyst',
  })
  readonly automatic_approval_level?: RequiredLevel;

  @JsonObject({
    optional: true,
    description:
      'Parameters of the action: the templates with their values. An `undecided` step has them if only its condition is unknown.',
    example: { message_id: '<1@mail.example.net>' },
  })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'Reason why the step would fail.' })
  readonly error?: string;
}

export interface DryRun extends WantedRun {
  readonly steps: readonly DryRunStepDto[];
}

/** Effect of a run. It has no id, because it is not stored. */
export class PlaybookDryRunDto {
  @Choice('PlaybookDryRunKind', ['dry_run'], {
    description: 'Distinguishes a dry run from a run.',
    example: 'dry_run',
  })
  readonly kind: 'dry_run';

  @AlwaysTrue()
  readonly dry_run: true;

  @Id('PlaybookId', { example: PLAYBOOK_ID })
  readonly playbook_id: string;

  @WholeNumber({ min: 1, example: 2 })
  readonly playbook_version: number;

  @Text({ example: SHIPPED_NAME })
  readonly playbook: string;

  @Id('IncidentId', { optional: true })
  readonly incident_id?: string;

  @WholeNumber({ min: 0, description: 'Always 0: nothing was executed.', example: 0 })
  readonly steps_completed: number;

  @WholeNumber({ min: 0, example: 3 })
  readonly steps_total: number;

  @JsonObject({
    description: 'Variables with their values in the run.',
    example: VARIABLES_EXAMPLE,
  })
  readonly variables: Readonly<Record<string, unknown>>;

  @NestedList(() => DryRunStepDto)
  readonly steps: readonly DryRunStepDto[];

  static from(this: void, { playbook, incident, variables, steps }: DryRun): PlaybookDryRunDto {
    return {
      kind: 'dry_run',
      dry_run: true,
      playbook_id: playbook.id,
      playbook_version: playbook.version,
      playbook: playbook.name,
      incident_id: incident?.id,
      steps_completed: 0,
      steps_total: steps.length,
      variables,
      steps,
    };
  }
}
