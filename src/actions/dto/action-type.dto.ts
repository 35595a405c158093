import { ApiProperty } from '@nestjs/swagger';
import {
  ACTION_TYPES,
  type ActionParameter,
  type ActionTypeName,
} from '../catalogue/action-types.js';
import { REQUIRED_LEVELS, type RequiredLevel } from '../action.js';
import {
  FORMATS_IN_WORDS,
  PARAMETER_FORMATS,
  type ParameterFormat,
} from '../catalogue/parameter-formats.js';
import type { OfferedType } from '../actions.service.js';

export class ActionParameterDto {
  @ApiProperty({ type: 'string', example: 'message_id' })
  readonly name: string;

  @ApiProperty({ enum: ['string', 'integer'], enumName: 'ActionParameterType', example: 'string' })
  readonly type: 'string' | 'integer';

  @ApiProperty({ type: 'boolean', example: true })
  readonly required: boolean;

  @ApiProperty({
    type: 'string',
    isArray: true,
    required: false,
    description: 'The only values, where not every one goes.',
  })
  readonly values?: readonly string[];

  @ApiProperty({
    enum: PARAMETER_FORMATS,
    enumName: 'ActionParameterFormat',
    required: false,
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
  @ApiProperty({ enum: ACTION_TYPES, enumName: 'ActionName', example: 'quarantine_email' })
  readonly name: ActionTypeName;

  @ApiProperty({ type: 'string', example: 'Moves an email out of its mailbox into quarantine.' })
  readonly description: string;

  @ApiProperty({
    type: 'string',
    description:
      'email, endpoint, identity, network, intelligence, ticketing or notification; an open set.',
    example: 'email',
  })
  readonly category: string;

  @ApiProperty({ type: 'boolean', example: true })
  readonly supports_rollback: boolean;

  @ApiProperty({
    enum: ACTION_TYPES,
    enumName: 'ActionName',
    required: false,
    description: 'The type that undoes it.',
    example: 'release_email',
  })
  readonly rolled_back_by?: ActionTypeName;

  @ApiProperty({
    enum: REQUIRED_LEVELS,
    enumName: 'RequiredLevel',
    required: false,
    description: 'As this site has it; absent for what needs no approval by default.',
  })
  readonly default_approval_level?: RequiredLevel;

  @ApiProperty({ type: ActionParameterDto, isArray: true })
  readonly parameters: readonly ActionParameterDto[];

  @ApiProperty({
    type: 'boolean',
    description: 'Whether an enabled connector provides it.',
    example: true,
  })
  readonly available: boolean;

  static from(this: void, { type, level, available }: OfferedType): ActionTypeDto {
    const inverse = type.inverse;
    return {
      name: type.name,
      description: type.description,
      category: type.category,
      supports_rollback: inverse !== undefined,
      rolled_back_by: inverse,
      ...(level !== 'none' && { default_approval_level: level }),
      parameters: type.parameters.map(ActionParameterDto.from),
      available,
    };
  }
}
