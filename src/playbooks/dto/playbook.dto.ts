import type { RequiredLevel } from '../../actions/action.js';
import type { Severity } from '../../incidents/incident.js';
import {
  AlwaysTrue,
  Choice,
  Id,
  Instant,
  Nested,
  NestedList,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import {
  DEFAULT_DEFINITION,
  type DefinitionChange,
  type EveryField,
  type KeptVersion,
  type OnError,
  type Playbook,
  type PlaybookStep,
  type PlaybookTriggers,
  type PlaybookVersion,
} from '../playbook.js';
import {
  AskedLevel,
  AutoRun,
  CHANGED,
  ChosenAction,
  ClearableDescription,
  ClearableInstructions,
  Condition,
  CREATED,
  Description,
  Enabled,
  IncidentTypes,
  Instructions,
  OnErrorChoice,
  PLAYBOOK_ID,
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
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { PageQueryDto, SortWords } from '../../platform/paging/page-query.dto.js';
import { NullIsAbsent } from '../../platform/validation/json-shield.js';
import { QueryFlag } from '../../platform/validation/query-fields.js';
import type { NewPlaybook, PlaybookChange } from '../playbooks.service.js';
import {
  PLAYBOOK_SORTS,
  type PlaybookFilter,
  type PlaybookSort,
  VERSION_SORTS,
  type VersionSort,
} from '../records/playbooks.repository.js';

class PlaybookTriggersDto {
  @IncidentTypes()
  readonly incident_types: readonly string[];

  @Severities()
  readonly severities: readonly Severity[];

  @Sources()
  readonly sources: readonly string[];
}

class PlaybookStepDto {
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

  @WholeNumber({ min: 1, description: 'Incremented with each change.', example: 2 })
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
  @Text({ description: 'Principal who created the playbook.', example: CREATED.created_by })
  readonly created_by: string;

  @Instant({ example: CREATED.created_at })
  readonly created_at: string;

  @Text({ description: 'Principal who made the last change.', example: CHANGED.updated_by })
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
  @Text({ description: 'Principal who created this version.', example: CHANGED.updated_by })
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

const NO_TRIGGERS = DEFAULT_DEFINITION.triggers;

class PlaybookTriggersInputDto {
  @IncidentTypes({ optional: true, default: NO_TRIGGERS.incident_types })
  readonly incident_types: readonly string[] = NO_TRIGGERS.incident_types;

  @Severities({ optional: true, default: NO_TRIGGERS.severities })
  readonly severities: readonly Severity[] = NO_TRIGGERS.severities;

  @Sources({ optional: true, default: NO_TRIGGERS.sources })
  readonly sources: readonly string[] = NO_TRIGGERS.sources;
}

class PlaybookStepInputDto {
  @StepName()
  readonly name: string;

  @ChosenAction()
  readonly action: ActionTypeName;

  @StepParameters({ optional: true, default: {} })
  readonly parameters: Record<string, unknown> = {};

  @Condition()
  readonly condition?: string;

  @AskedLevel()
  readonly approval_level?: RequiredLevel;

  @OnErrorChoice({ optional: true, default: 'stop' })
  readonly on_error: OnError = 'stop';
}

export class PlaybookInputDto {
  @PlaybookName()
  readonly name: string;

  @Description()
  readonly description?: string;

  @Enabled({ optional: true, default: DEFAULT_DEFINITION.enabled })
  readonly enabled?: boolean;

  @Nested(() => PlaybookTriggersInputDto, { ...TRIGGERS, optional: true })
  readonly triggers?: PlaybookTriggersInputDto;

  @AutoRun({ optional: true, default: DEFAULT_DEFINITION.auto_run })
  readonly auto_run?: boolean;

  @TrustVerdict({ optional: true, default: DEFAULT_DEFINITION.trust_verdict })
  readonly trust_verdict?: boolean;

  @Instructions()
  readonly instructions?: string;

  @Variables({ optional: true, default: DEFAULT_DEFINITION.variables })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => PlaybookStepInputDto, {
    ...STEPS,
    optional: true,
    default: DEFAULT_DEFINITION.steps,
  })
  readonly steps?: PlaybookStepInputDto[];

  static toWanted(this: void, body: PlaybookInputDto): NewPlaybook {
    return { ...plainDefinition(body), name: body.name };
  }
}

@NullIsAbsent()
export class PlaybookUpdateDto {
  @PlaybookName({ optional: true })
  readonly name?: string;

  @ClearableDescription()
  readonly description?: string;

  @Enabled({ optional: true })
  readonly enabled?: boolean;

  @Nested(() => PlaybookTriggersInputDto, {
    optional: true,
    description: 'Replaces the previous value as a whole.',
  })
  readonly triggers?: PlaybookTriggersInputDto;

  @AutoRun({ optional: true })
  readonly auto_run?: boolean;

  @TrustVerdict({ optional: true })
  readonly trust_verdict?: boolean;

  @ClearableInstructions()
  readonly instructions?: string;

  @Variables({ optional: true, description: 'Replaces the previous value as a whole.' })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => PlaybookStepInputDto, {
    ...STEPS,
    optional: true,
    description: 'Replaces the previous value as a whole.',
  })
  readonly steps?: PlaybookStepInputDto[];

  static toChange(this: void, body: PlaybookUpdateDto): PlaybookChange {
    return { ...plainDefinition(body), name: body.name };
  }
}

/** Plain values: they are compared with what was read from JSON. */
function plainDefinition({ triggers, steps, ...body }: PlaybookUpdateDto): DefinitionChange {
  return { ...body, triggers: triggers && plainTriggers(triggers), steps: steps?.map(plainStep) };
}

function plainTriggers(triggers: PlaybookTriggersInputDto): PlaybookTriggers {
  const { incident_types, severities, sources } = triggers;
  return { incident_types, severities, sources };
}

function plainStep(step: PlaybookStepInputDto): PlaybookStep {
  const { name, action, parameters, condition, approval_level, on_error, ...others } = step;
  // The compiler finds here what was added to the fields of a step and is not carried along.
  others satisfies Record<string, never>;
  return {
    name,
    action,
    parameters,
    ...(condition !== undefined && { condition }),
    ...(approval_level && { approval_level }),
    on_error,
  };
}

export class PlaybookQueryDto extends PageQueryDto {
  @PlaybookName({ optional: true, description: 'The one of this name.', example: undefined })
  readonly name?: string;

  @QueryFlag({ optional: true })
  readonly enabled?: boolean;

  @QueryFlag({ optional: true })
  readonly auto_run?: boolean;

  @SortWords('PlaybookSort', PLAYBOOK_SORTS)
  readonly sort: readonly PlaybookSort[] = ['-created_at'];

  static toFilter(this: void, { name, enabled, auto_run }: PlaybookQueryDto): PlaybookFilter {
    return { name, enabled, auto_run };
  }
}

export class PlaybookVersionsQueryDto extends PageQueryDto {
  @Choice('PlaybookVersionSort', VERSION_SORTS, { optional: true, default: '-version' })
  readonly sort: VersionSort = '-version';
}
