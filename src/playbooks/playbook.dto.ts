import { applyDecorators } from '@nestjs/common';
import { ApiParam, IntersectionType, OmitType, PartialType, PickType } from '@nestjs/swagger';
import { ACTION_TYPES, type ActionTypeName } from '../action-catalogue/action-types.js';
import { REQUIRED_LEVELS, type RequiredLevel } from '../actions/action.js';
import { INCIDENT_TYPE, SEVERITIES, type Severity } from '../incidents/incident.js';
import { ApiErrorMeanings, type ErrorMeanings } from '../platform/openapi/answers.js';
import { sortWords, PageQueryDto, SortWords } from '../platform/paging/page.js';
import { SAYS_SOMETHING } from '../platform/text.js';
import {
  AlwaysTrue,
  Choice,
  Choices,
  type FieldOptions,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  NullIsAbsent,
  OpenChoice,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { QueryFlag } from '../platform/validation/query-fields.js';

/** Excludes UUIDs, so that no name looks like an id. */
export const PLAYBOOK_NAME =
  /^(?![0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$)[a-z0-9][a-z0-9-]{0,62}$/;
export const NAME = /^[a-z][a-z0-9_]{0,62}$/;

// These maximums limit the cost of a playbook, which docs/adr/0030-the-language-of-playbooks.md measures.
const MOST_STEPS = 50;
export const LONGEST_EXPRESSION = 2_000;

const ON_ERROR = ['stop', 'continue'] as const;

export const ByNameOrId = (meanings: ErrorMeanings = {}) =>
  applyDecorators(
    ApiErrorMeanings({ not_found: 'There is no such playbook.', ...meanings }),
    ApiParam({
      name: 'id',
      description: 'Id or name of the playbook. A malformed value is answered as unknown.',
      schema: { title: 'PlaybookReference', type: 'string' },
      example: 'phishing-response',
    }),
  );

const PlaybookName = (options: FieldOptions = {}) =>
  Text({
    pattern: PLAYBOOK_NAME,
    message:
      'name must be 1 to 63 small letters, digits and hyphens, beginning with a letter or digit, and no UUID',
    // The pattern in the contract does not exclude UUIDs, because generated clients may not support lookahead.
    contract: { pattern: '^[a-z0-9][a-z0-9-]{0,62}$' },
    description: 'Unique, and no UUID.',
    ...options,
  });

// The input and the update declare these fields separately, because Swagger ignores PartialType for optional objects.
const VARIABLES = {
  description:
    'Names with default values. A run can override the values. Do not store secrets here: every role can read them.',
};
const STEP_PARAMETERS = {
  description:
    'Parameters of the action. A text can have templates, `{{ expression }}`. A text that is one template as a whole takes the type of the value. Expressions are the same as in conditions, but cannot read `verdict`.',
};
const TRIGGERS = {
  description: 'Incidents that the playbook is for. A list that is empty or left out matches all.',
};
const STEPS = { maxItems: MOST_STEPS, description: 'Steps, taken one after another.' };

const NOT_NULL = { skipNullProperties: false };

class PlaybookTriggersDto {
  @Texts({
    maxItems: 50,
    pattern: INCIDENT_TYPE,
    message:
      'each of incident_types must be 1 to 64 small letters, digits and underscores, beginning with a letter',
  })
  readonly incident_types: readonly string[];

  @Choices('Severity', SEVERITIES, { maxItems: SEVERITIES.length })
  readonly severities: readonly Severity[];

  @Texts({
    maxItems: 50,
    maxLength: 255,
    pattern: new RegExp(SAYS_SOMETHING),
    message: 'each of sources must not be blank',
    description: 'Names of sources, as in the field `source` of an incident.',
  })
  readonly sources: readonly string[];
}

class PlaybookTriggersInputDto extends PartialType(PlaybookTriggersDto, NOT_NULL) {}

class PlaybookStepDto {
  @Text({
    pattern: NAME,
    message: 'name must be 1 to 63 small letters, digits and underscores, beginning with a letter',
    description: 'Unique in the playbook. Later steps read the result of the step by this name.',
  })
  readonly name: string;

  @OpenChoice('ActionTypeName', ACTION_TYPES)
  readonly action: ActionTypeName;

  @JsonObject(STEP_PARAMETERS)
  readonly parameters: Readonly<Record<string, unknown>>;

  @Text({
    optional: true,
    min: 1,
    max: LONGEST_EXPRESSION,
    description: 'Expression in CEL. The step is skipped if the value is false.',
  })
  readonly condition?: string;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'Minimum approval level. It never lowers the level that the action needs.',
  })
  readonly approval_level?: RequiredLevel;

  @Choice('OnError', ON_ERROR, { description: 'Effect of a failed step. Default: `stop`.' })
  readonly on_error: (typeof ON_ERROR)[number];
}

class PlaybookStepInputDto extends IntersectionType(
  PickType(PlaybookStepDto, ['name', 'condition', 'approval_level']),
  PartialType(PickType(PlaybookStepDto, ['on_error']), NOT_NULL),
) {
  @Choice('KnownActionType', ACTION_TYPES)
  readonly action: ActionTypeName;

  @JsonObject({ ...STEP_PARAMETERS, optional: true, default: {} })
  readonly parameters: Record<string, unknown> = {};

  override readonly on_error: (typeof ON_ERROR)[number] = 'stop';
}

export class PlaybookContentDto {
  @Id('PlaybookId')
  readonly id: string;

  @PlaybookName()
  readonly name: string;

  @WholeNumber({ min: 1, description: 'Incremented with each change.' })
  readonly version: number;

  @Text({ optional: true, max: 2_000, description: 'Purpose. An empty text removes it.' })
  readonly description?: string;

  @Flag({ description: 'If false, it starts no runs and guides no model. Default: true.' })
  readonly enabled: boolean;

  @Nested(() => PlaybookTriggersDto, TRIGGERS)
  readonly triggers: PlaybookTriggersDto;

  @Flag({ description: 'Runs after the triage of each incident that matches `triggers`.' })
  readonly auto_run: boolean;

  @Flag({
    description:
      'The verdict that a condition reads needs no approval in automatic runs. Only a manager can set this flag, or change such a playbook other than to disable or describe it.',
  })
  readonly trust_verdict: boolean;

  @Text({
    optional: true,
    max: 8_000,
    description:
      'Guidance for the model if a triage names the playbook. It runs no steps. In an update, an empty text removes it.',
  })
  readonly instructions?: string;

  @JsonObject(VARIABLES)
  readonly variables: Readonly<Record<string, unknown>>;

  @NestedList(() => PlaybookStepDto, STEPS)
  readonly steps: readonly PlaybookStepDto[];
}

const OTHER_IN_REQUESTS = ['id', 'name', 'version', 'triggers', 'variables', 'steps'] as const;

export class PlaybookInputDto extends IntersectionType(
  PickType(PlaybookContentDto, ['name']),
  PartialType(OmitType(PlaybookContentDto, OTHER_IN_REQUESTS), NOT_NULL),
) {
  @Nested(() => PlaybookTriggersInputDto, { ...TRIGGERS, optional: true })
  readonly triggers?: PlaybookTriggersInputDto;

  @JsonObject({ ...VARIABLES, optional: true })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => PlaybookStepInputDto, { ...STEPS, optional: true })
  readonly steps?: readonly PlaybookStepInputDto[];
}

@NullIsAbsent()
export class PlaybookUpdateDto extends PartialType(PlaybookInputDto) {}

export class PlaybookDto extends PlaybookContentDto {
  @Text({ description: 'Principal who created the playbook.' })
  readonly created_by: string;

  @Instant()
  readonly created_at: Date;

  @Text({ description: 'Principal who made the last change.' })
  readonly updated_by: string;

  @Instant()
  readonly updated_at: Date;
}

export class PlaybookVersionDto extends PlaybookContentDto {
  @Text({ description: 'Principal who created this version.' })
  readonly changed_by: string;

  @Instant()
  readonly changed_at: Date;
}

export class CheckedPlaybookDto {
  @AlwaysTrue()
  readonly valid: true;
}

const SORTS = sortWords('created_at', 'name');
const VERSION_SORTS = sortWords('version');

export class PlaybookQueryDto extends PageQueryDto {
  @PlaybookName({ optional: true, description: 'Name of the playbook.' })
  readonly name?: string;

  @QueryFlag({ optional: true })
  readonly enabled?: boolean;

  @QueryFlag({ optional: true })
  readonly auto_run?: boolean;

  @SortWords('PlaybookSort', SORTS)
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];
}

export class PlaybookVersionsQueryDto extends PageQueryDto {
  @Choice('PlaybookVersionSort', VERSION_SORTS, { optional: true, default: '-version' })
  readonly sort: (typeof VERSION_SORTS)[number] = '-version';
}
