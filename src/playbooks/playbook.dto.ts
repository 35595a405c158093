import { ApiParam, PartialType, PickType } from '@nestjs/swagger';
import { ACTION_TYPES, type ActionTypeName } from '../action-catalogue/action-types.js';
import { REQUIRED_LEVELS, type RequiredLevel } from '../actions/action.js';
import { INCIDENT_TYPE, SEVERITIES, type Severity } from '../incidents/incident.js';
import { PageQueryDto, SortWords } from '../platform/paging/page-query.dto.js';
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
  OpenChoice,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { NullIsAbsent } from '../platform/validation/json-shield.js';
import { present } from '../platform/validation/present.js';
import { QueryFlag } from '../platform/validation/query-fields.js';
import {
  LONGEST_DEFINITION,
  LONGEST_EXPRESSION,
  LONGEST_TEMPLATE,
  MOST_EXPRESSIONS,
  MOST_NESTED_LOOPS,
  MOST_STEPS,
  NAME,
  NAME_IN_WORDS,
} from './language/playbook-definition.js';
import {
  DEFAULT_DEFINITION,
  ON_ERROR,
  type OnError,
  PLAYBOOK_NAME,
  type PlaybookEntity,
  type PlaybookStep,
  type PlaybookVersionEntity,
} from './playbook.js';
import {
  PLAYBOOK_SORTS,
  type PlaybookSort,
  VERSION_SORTS,
  type VersionSort,
} from './playbooks.repository.js';

/** Description of the expression language, for the contract. */
export const LANGUAGE_IN_WORDS = `A condition is an expression in [CEL](https://cel.dev), and so is the text within \`{{ }}\` in \`parameters\`. An expression can read:

- \`incident\`, as it was when the run started: \`id\`, \`incident_number\`, \`incident_type\`, \`severity\`, \`status\`, \`source\`, \`title\`, \`fields\`, \`raw_data\`, \`resolution\`, \`created_at\`, \`updated_at\`, \`triaged_at\`
- \`variables\`: the variables of the run
- \`steps.<name>.result\` of an earlier step: \`success\`, \`message\`, \`data\`. A step that was skipped has none
- \`verdict\`, in conditions only: \`classification\`, \`confidence\`, \`category\` and what else a verdict has

\`has(incident.raw_data.user)\` tells whether a field is present. Reading an absent field fails the step. \`isIP(text)\` tells whether a text is an address. In texts for people, links and mentions in values do not work unless \`raw(value)\` is the whole expression; \`oneLine(text)\` takes line breaks away and cuts to 200 characters; and \`incident.classification\` is the word of the verdict. There are no regular expressions, and loops can be nested at most ${MOST_NESTED_LOOPS} deep.

An expression has at most ${LONGEST_EXPRESSION} characters; a text with templates ${LONGEST_TEMPLATE}, and ${MOST_EXPRESSIONS} expressions; a playbook ${MOST_STEPS} steps, and \`variables\` and \`steps\` together ${LONGEST_DEFINITION} characters as JSON. The name of a variable or of a step is ${NAME_IN_WORDS}.`;

/** A name that is always there, since the first start makes the shipped playbooks. */
export const SHIPPED_NAME = 'phishing-response';
export const PLAYBOOK_ID = '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c';

export const VARIABLES_EXAMPLE = { channel: '#soc' };

export const STEPS_EXAMPLE = [
  {
    name: 'quarantine',
    action: 'quarantine_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(incident.raw_data.message_id)',
    on_error: 'stop',
  },
  {
    name: 'delete',
    action: 'delete_email',
    parameters: { message_id: '{{ incident.raw_data.message_id }}' },
    condition: 'has(steps.quarantine.result)',
    approval_level: 'senior',
    on_error: 'continue',
  },
  {
    name: 'tell_team',
    action: 'notify_channel',
    parameters: {
      channel: '{{ variables.channel }}',
      message: 'The mail of {{ incident.incident_number }} is dealt with.',
    },
    on_error: 'continue',
  },
] as const satisfies PlaybookStep[];

const CHANGED = { by: 'alice', at: '2026-01-30T16:00:00.000Z' };

/** As many as the model is shown. */
const LONGEST_INSTRUCTIONS = 8_000;
const LONGEST_DESCRIPTION = 2_000;
const MOST_TRIGGERS = 50;
const LONGEST_SOURCE = 255;

/** An address accepts the name of a playbook wherever it accepts the id. */
export const ByNameOrId = () =>
  ApiParam({
    name: 'id',
    description: 'Id or name of the playbook. A malformed value is answered as unknown.',
    schema: { title: 'PlaybookReference', type: 'string' },
    example: SHIPPED_NAME,
  });

export const NO_SUCH_PLAYBOOK = 'There is no such playbook.';

const PlaybookName = (options: FieldOptions = {}) =>
  Text({
    pattern: PLAYBOOK_NAME,
    message:
      'name must be 1 to 63 small letters, digits and hyphens, beginning with a letter or digit, and no UUID',
    // Generated clients may not support the lookahead that excludes UUIDs.
    contract: { pattern: '^[a-z0-9][a-z0-9-]{0,62}$' },
    description: 'Unique, and no UUID.',
    example: SHIPPED_NAME,
    ...options,
  });

const Enabled = (options: FieldOptions = {}) =>
  Flag({
    description: 'A disabled playbook starts no runs, and no model gets its instructions.',
    example: true,
    ...options,
  });

const AutoRun = (options: FieldOptions = {}) =>
  Flag({
    description: 'Runs automatically after the triage of an incident that matches the triggers.',
    example: false,
    ...options,
  });

const TrustVerdict = (options: FieldOptions = {}) =>
  Flag({
    description:
      'Automatic runs take steps whose condition reads the verdict without an approval, unless the action needs one. Only a manager can set it, or change such a playbook other than to disable or describe it.',
    example: false,
    ...options,
  });

const Variables = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Names with default values. A run can override the values. Do not store secrets here: every role can read them.',
    example: VARIABLES_EXAMPLE,
    ...options,
  });

const IncidentTypes = (options: FieldOptions = {}) =>
  Texts({
    maxItems: MOST_TRIGGERS,
    pattern: INCIDENT_TYPE,
    message:
      'each of incident_types must be 1 to 64 small letters, digits and underscores, beginning with a letter',
    example: ['phishing'],
    ...options,
  });

const Severities = (options: FieldOptions = {}) =>
  Choices('Severity', SEVERITIES, {
    maxItems: SEVERITIES.length,
    example: ['high', 'critical'],
    ...options,
  });

const Sources = (options: FieldOptions = {}) =>
  Texts({
    maxItems: MOST_TRIGGERS,
    maxLength: LONGEST_SOURCE,
    pattern: new RegExp(SAYS_SOMETHING),
    message: 'each of sources must not be blank',
    description: 'Sources as incidents show them.',
    example: ['mail-gateway'],
    ...options,
  });

const StepParameters = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Parameters of the action. A text can have templates, `{{ expression }}`. A text that is one template as a whole takes the type of the value. Expressions are the same as in conditions, but cannot read `verdict`.',
    example: STEPS_EXAMPLE[0].parameters,
    ...options,
  });

const OnErrorChoice = (options: FieldOptions = {}) =>
  Choice('OnError', ON_ERROR, {
    description: 'Whether the run ends or continues if the step fails or is rejected.',
    example: 'stop',
    ...options,
  });

const TRIGGERS: FieldOptions = {
  description: 'Incidents that the playbook is for. A list that is empty or left out matches all.',
};

const STEPS = {
  maxItems: MOST_STEPS,
  description: 'Steps, taken one after another.',
  example: STEPS_EXAMPLE,
};

class PlaybookTriggersDto {
  @IncidentTypes()
  readonly incident_types: readonly string[];

  @Severities()
  readonly severities: readonly Severity[];

  @Sources()
  readonly sources: readonly string[];
}

class PlaybookStepDto {
  @Text({
    pattern: NAME,
    message: 'name must be 1 to 63 small letters, digits and underscores, beginning with a letter',
    description: 'Unique in the playbook. Later steps read the result of the step by this name.',
    example: STEPS_EXAMPLE[0].name,
  })
  readonly name: string;

  @OpenChoice('ActionTypeName', ACTION_TYPES, { example: STEPS_EXAMPLE[0].action })
  readonly action: string;

  @StepParameters()
  readonly parameters: Readonly<Record<string, unknown>>;

  @Text({
    optional: true,
    min: 1,
    max: LONGEST_EXPRESSION,
    description:
      'Expression in CEL. The step is skipped if it is false. `createPlaybook` describes what it can read.',
    example: STEPS_EXAMPLE[0].condition,
  })
  readonly condition?: string;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Minimum approval level. It can raise the level that the action needs, and never lowers it.',
    example: 'analyst',
  })
  readonly approval_level?: RequiredLevel;

  @OnErrorChoice()
  readonly on_error: OnError;
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

class PlaybookStepInputDto extends PickType(PlaybookStepDto, [
  'name',
  'condition',
  'approval_level',
]) {
  @Choice('KnownActionType', ACTION_TYPES, { example: STEPS_EXAMPLE[0].action })
  readonly action: ActionTypeName;

  @StepParameters({ optional: true, default: {} })
  readonly parameters: Record<string, unknown> = {};

  @OnErrorChoice({ optional: true, default: 'stop' })
  readonly on_error: OnError = 'stop';
}

/** Fields of requests. */
class PlaybookFieldsDto {
  @PlaybookName()
  readonly name: string;

  @Text({
    optional: true,
    max: LONGEST_DESCRIPTION,
    description: 'Purpose, for people. In an update, an empty text removes it.',
    example: 'Takes a mail that somebody reported out of the mailbox.',
  })
  readonly description?: string;

  @Enabled({ optional: true })
  readonly enabled?: boolean;

  @Nested(() => PlaybookTriggersInputDto, { ...TRIGGERS, optional: true })
  readonly triggers?: PlaybookTriggersInputDto;

  @AutoRun({ optional: true })
  readonly auto_run?: boolean;

  @TrustVerdict({ optional: true })
  readonly trust_verdict?: boolean;

  @Text({
    optional: true,
    max: LONGEST_INSTRUCTIONS,
    description:
      'Guidance for the model if a triage names the playbook. It runs no steps. In an update, an empty text removes it.',
    example: 'Invoices come from billing@example.com only.',
  })
  readonly instructions?: string;

  @Variables({ optional: true })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => PlaybookStepInputDto, { ...STEPS, optional: true })
  readonly steps?: PlaybookStepInputDto[];
}

export class PlaybookInputDto extends PickType(PlaybookFieldsDto, [
  'name',
  'description',
  'triggers',
  'instructions',
]) {
  @Enabled({ optional: true, default: DEFAULT_DEFINITION.enabled })
  readonly enabled?: boolean;

  @AutoRun({ optional: true, default: DEFAULT_DEFINITION.auto_run })
  readonly auto_run?: boolean;

  @TrustVerdict({ optional: true, default: DEFAULT_DEFINITION.trust_verdict })
  readonly trust_verdict?: boolean;

  @Variables({ optional: true, default: DEFAULT_DEFINITION.variables })
  readonly variables?: Record<string, unknown>;

  @NestedList(() => PlaybookStepInputDto, {
    ...STEPS,
    optional: true,
    default: DEFAULT_DEFINITION.steps,
  })
  readonly steps?: PlaybookStepInputDto[];
}

@NullIsAbsent()
export class PlaybookUpdateDto extends PartialType(PlaybookFieldsDto) {}

class PlaybookContentDto extends PickType(PlaybookFieldsDto, [
  'name',
  'description',
  'instructions',
]) {
  @Id('PlaybookId', { example: PLAYBOOK_ID })
  readonly id: string;

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

  @Variables()
  readonly variables: Readonly<Record<string, unknown>>;

  @NestedList(() => PlaybookStepDto, STEPS)
  readonly steps: readonly PlaybookStepDto[];
}

export class PlaybookDto extends PlaybookContentDto {
  @Text({ description: 'Principal who created the playbook.', example: 'system' })
  readonly created_by: string;

  @Instant({ example: '2026-01-29T08:00:00.000Z' })
  readonly created_at: Date;

  @Text({ description: 'Principal who made the last change.', example: CHANGED.by })
  readonly updated_by: string;

  @Instant({ example: CHANGED.at })
  readonly updated_at: Date;
}

export class PlaybookVersionDto extends PlaybookContentDto {
  @Text({ description: 'Principal who created this version.', example: CHANGED.by })
  readonly changed_by: string;

  @Instant({ example: CHANGED.at })
  readonly changed_at: Date;
}

export const presentPlaybook = (row: PlaybookEntity): PlaybookDto =>
  present(PlaybookDto)({ ...row, ...row.definition });

export const presentVersion = (row: PlaybookVersionEntity): PlaybookVersionDto =>
  present(PlaybookVersionDto)({ ...row, ...row.definition });

export class CheckedPlaybookDto {
  @AlwaysTrue()
  readonly valid: true;
}

export class PlaybookQueryDto extends PageQueryDto {
  @PlaybookName({ optional: true, description: 'Name of the playbook.', example: undefined })
  readonly name?: string;

  @QueryFlag({ optional: true })
  readonly enabled?: boolean;

  @QueryFlag({ optional: true })
  readonly auto_run?: boolean;

  @SortWords('PlaybookSort', PLAYBOOK_SORTS)
  readonly sort: readonly PlaybookSort[] = ['-created_at'];
}

export class PlaybookVersionsQueryDto extends PageQueryDto {
  @Choice('PlaybookVersionSort', VERSION_SORTS, { optional: true, default: '-version' })
  readonly sort: VersionSort = '-version';
}
