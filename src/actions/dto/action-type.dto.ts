import { ACTION_TYPES, type ActionParameter } from '../../action-catalogue/action-types.js';
import { REQUIRED_LEVELS, type RequiredLevel } from '../action.js';
import {
  FORMATS_IN_WORDS,
  PARAMETER_FORMATS,
  type ParameterFormat,
} from '../../action-catalogue/parameter-formats.js';
import {
  Choice,
  Flag,
  NestedList,
  OpenChoice,
  Text,
  Texts,
} from '../../platform/validation/fields.js';
import type { OfferedType } from '../actions.service.js';

export class ActionParameterDto {
  @Text({ example: 'message_id' })
  readonly name: string;

  @Choice('ActionParameterType', ['string', 'integer'], { example: 'string' })
  readonly type: 'string' | 'integer';

  @Flag({ example: true })
  readonly required: boolean;

  @Texts({ optional: true, description: 'The only values, where not every one goes.' })
  readonly values?: readonly string[];

  @Choice('ActionParameterFormat', PARAMETER_FORMATS, {
    optional: true,
    description: [
      'What a string has to be, where not every text goes:',
      ...PARAMETER_FORMATS.map((format) => `- \`${format}\`: ${FORMATS_IN_WORDS[format]}`),
    ].join('\n'),
  })
  readonly format?: ParameterFormat;

  static from(this: void, parameter: ActionParameter): ActionParameterDto {
    const { name, type, required, values, format } = parameter;
    return { name, type, required, values, format };
  }
}

export class ActionTypeDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES, { example: 'quarantine_email' })
  readonly name: string;

  @Text({ example: 'Moves an email out of its mailbox into quarantine.' })
  readonly description: string;

  @Text({
    description:
      'email, endpoint, identity, network, intelligence, ticketing or notification; an open set.',
    example: 'email',
  })
  readonly category: string;

  @Flag({ example: true })
  readonly supports_rollback: boolean;

  @OpenChoice('ActionTypeName', ACTION_TYPES, {
    optional: true,
    description: 'The type that undoes it.',
    example: 'release_email',
  })
  readonly rolled_back_by?: string;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'As this site has it; absent for what needs no approval by default.',
  })
  readonly default_approval_level?: RequiredLevel;

  @NestedList(() => ActionParameterDto)
  readonly parameters: readonly ActionParameterDto[];

  @Flag({ description: 'Whether an enabled connector provides it.', example: true })
  readonly available: boolean;

  static from(this: void, { type, level, available }: OfferedType): ActionTypeDto {
    const inverse = type.inverse;
    return {
      name: type.name,
      description: type.description,
      category: type.category,
      supports_rollback: inverse !== undefined,
      rolled_back_by: inverse,
      default_approval_level: level === 'none' ? undefined : level,
      parameters: type.parameters.map(ActionParameterDto.from),
      available,
    };
  }
}
