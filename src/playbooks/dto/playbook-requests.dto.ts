import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { RequiredLevel } from '../../actions/action.js';
import type { Severity } from '../../incidents/incident.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { SortWords } from '../../platform/paging/sort-query.js';
import { Choice, Nested, NestedList } from '../../platform/validation/fields.js';
import { QueryFlag } from '../../platform/validation/query-fields.js';
import type { OnError, PlaybookStep, PlaybookTriggers } from '../playbook.js';
import type { NewPlaybook, PlaybookChange } from '../playbook-changes.js';
import { type DefinitionChange, DEFAULT_DEFINITION } from '../playbook-rules.js';
import {
  PLAYBOOK_SORTS,
  type PlaybookFilter,
  type PlaybookSort,
  VERSION_SORTS,
  type VersionSort,
} from '../records/playbooks.repository.js';
import {
  AskedLevel,
  AutoRun,
  ClearableDescription,
  ClearableInstructions,
  Condition,
  Description,
  Enabled,
  IncidentTypes,
  Instructions,
  OnErrorChoice,
  PlaybookName,
  Severities,
  Sources,
  ChosenAction,
  StepName,
  StepParameters,
  STEPS,
  TRIGGERS,
  TrustVerdict,
  Variables,
} from './playbook-fields.js';

const NO_TRIGGERS = DEFAULT_DEFINITION.triggers;

export class NewPlaybookTriggersDto {
  @IncidentTypes({ optional: true, default: NO_TRIGGERS.incident_types })
  readonly incident_types: readonly string[] = NO_TRIGGERS.incident_types;

  @Severities({ optional: true, default: NO_TRIGGERS.severities })
  readonly severities: readonly Severity[] = NO_TRIGGERS.severities;

  @Sources({ optional: true, default: NO_TRIGGERS.sources })
  readonly sources: readonly string[] = NO_TRIGGERS.sources;
}

export class NewPlaybookStepDto {
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

export class NewPlaybookDto {
  @PlaybookName()
  readonly name: string;

  @Description()
  readonly description?: string;

  @Enabled({ optional: true, default: DEFAULT_DEFINITION.enabled })
  readonly enabled?: boolean;

  @Nested(() => NewPlaybookTriggersDto, { ...TRIGGERS, optional: true })
  readonly triggers?: NewPlaybookTriggersDto;

  @AutoRun({ optional: true, default: DEFAULT_DEFINITION.auto_run })
  readonly auto_run?: boolean;

  @TrustVerdict({ optional: true, default: DEFAULT_DEFINITION.trust_verdict })
  readonly trust_verdict?: boolean;

  @Instructions()
  readonly instructions?: string;

  @Variables({ optional: true, default: DEFAULT_DEFINITION.variables })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => NewPlaybookStepDto, {
    ...STEPS,
    optional: true,
    default: DEFAULT_DEFINITION.steps,
  })
  readonly steps?: NewPlaybookStepDto[];

  static toWanted(this: void, body: NewPlaybookDto): NewPlaybook {
    return { ...plainDefinition(body), name: body.name };
  }
}

export class PlaybookUpdateDto {
  @PlaybookName({ optional: true })
  readonly name?: string;

  @ClearableDescription()
  readonly description?: string;

  @Enabled({ optional: true })
  readonly enabled?: boolean;

  @Nested(() => NewPlaybookTriggersDto, {
    optional: true,
    description: 'All of them, in place of those before.',
  })
  readonly triggers?: NewPlaybookTriggersDto;

  @AutoRun({ optional: true })
  readonly auto_run?: boolean;

  @TrustVerdict({ optional: true })
  readonly trust_verdict?: boolean;

  @ClearableInstructions()
  readonly instructions?: string;

  @Variables({ optional: true, description: 'All of them, in place of those before.' })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => NewPlaybookStepDto, {
    ...STEPS,
    optional: true,
    description: 'All of them, in place of those before.',
  })
  readonly steps?: NewPlaybookStepDto[];

  static toChange(this: void, body: PlaybookUpdateDto): PlaybookChange {
    return { ...plainDefinition(body), name: body.name };
  }
}

/** Plain values: they are compared with what was read from JSON. */
function plainDefinition({ triggers, steps, ...body }: PlaybookUpdateDto): DefinitionChange {
  return { ...body, triggers: triggers && plainTriggers(triggers), steps: steps?.map(plainStep) };
}

function plainTriggers(triggers: NewPlaybookTriggersDto): PlaybookTriggers {
  const { incident_types, severities, sources } = triggers;
  return { incident_types, severities, sources };
}

function plainStep(step: NewPlaybookStepDto): PlaybookStep {
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
