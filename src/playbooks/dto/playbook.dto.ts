import type { RequiredLevel } from '../../actions/action.js';
import type { Severity } from '../../incidents/incident.js';
import {
  AlwaysTrue,
  Id,
  Instant,
  Nested,
  NestedList,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import type { EveryField, KeptVersion, OnError, Playbook, PlaybookVersion } from '../playbook.js';
import { CHANGED, CREATED, PLAYBOOK_ID } from './playbook-examples.js';
import {
  AskedLevel,
  AutoRun,
  Condition,
  Description,
  Enabled,
  IncidentTypes,
  Instructions,
  OnErrorChoice,
  PlaybookName,
  Severities,
  Sources,
  StepAction,
  StepName,
  StepParameters,
  STEPS,
  TRIGGERS,
  TrustVerdict,
  Variables,
} from './playbook-fields.js';

export class PlaybookTriggersDto {
  @IncidentTypes()
  readonly incident_types: readonly string[];

  @Severities()
  readonly severities: readonly Severity[];

  @Sources()
  readonly sources: readonly string[];
}

export class PlaybookStepDto {
  @StepName()
  readonly name: string;

  @StepAction()
  readonly action: string;

  @StepParameters()
  readonly parameters: Readonly<Record<string, unknown>>;

  @Condition()
  readonly condition?: string;

  @AskedLevel()
  readonly approval_level?: RequiredLevel;

  @OnErrorChoice()
  readonly on_error: OnError;
}

/** What people decide about a playbook, at one version. */
class PlaybookContentDto {
  @Id('PlaybookId', { example: PLAYBOOK_ID })
  readonly id: string;

  @PlaybookName()
  readonly name: string;

  @Description()
  readonly description?: string;

  @WholeNumber({ min: 1, description: 'One more with each change.', example: 2 })
  readonly version: number;

  @Enabled()
  readonly enabled: boolean;

  @Nested(() => PlaybookTriggersDto, TRIGGERS)
  readonly triggers: PlaybookTriggersDto;

  @AutoRun()
  readonly auto_run: boolean;

  @TrustVerdict()
  readonly trust_verdict: boolean;

  @Instructions()
  readonly instructions?: string;

  @Variables()
  readonly variables: Readonly<Record<string, unknown>>;

  @NestedList(() => PlaybookStepDto, STEPS)
  readonly steps: readonly PlaybookStepDto[];

  protected static contentOf(
    this: void,
    { id, name, version, definition }: PlaybookVersion,
  ): EveryField<PlaybookContentDto> {
    return {
      id,
      name,
      description: definition.description,
      version,
      enabled: definition.enabled,
      triggers: definition.triggers,
      auto_run: definition.auto_run,
      trust_verdict: definition.trust_verdict,
      instructions: definition.instructions,
      variables: definition.variables,
      steps: definition.steps,
    };
  }
}

export class PlaybookDto extends PlaybookContentDto {
  @Text({ description: 'The principal that made it.', example: CREATED.created_by })
  readonly created_by: string;

  @Instant({ example: CREATED.created_at })
  readonly created_at: string;

  @Text({ description: 'The principal that changed it last.', example: CHANGED.updated_by })
  readonly updated_by: string;

  @Instant({ example: CHANGED.updated_at })
  readonly updated_at: string;

  static from(this: void, playbook: Playbook): PlaybookDto {
    return {
      ...PlaybookContentDto.contentOf(playbook),
      created_by: playbook.createdBy,
      created_at: playbook.createdAt.toISOString(),
      updated_by: playbook.updatedBy,
      updated_at: playbook.updatedAt.toISOString(),
    };
  }
}

export class PlaybookVersionDto extends PlaybookContentDto {
  @Text({ description: 'The principal that made this version.', example: CHANGED.updated_by })
  readonly changed_by: string;

  @Instant({ example: CHANGED.updated_at })
  readonly changed_at: string;

  static from(this: void, version: KeptVersion): PlaybookVersionDto {
    return {
      ...PlaybookContentDto.contentOf(version),
      changed_by: version.changedBy,
      changed_at: version.changedAt.toISOString(),
    };
  }
}

export class CheckedPlaybookDto {
  @AlwaysTrue()
  readonly valid: true;
}
