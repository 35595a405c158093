import { ApiProperty } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsNumber,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';
import { NestedList, Optional } from '../../platform/validation/decorators.js';
import { CLASSIFICATIONS, type Classification } from '../incident.js';

const WORD = /^[a-z][a-z0-9_]{0,63}$/;
const TECHNIQUE = /^T\d{4}(\.\d{3})?$/;
const MOST_ITEMS = 200;

const IsScalar = (): PropertyDecorator =>
  ValidateBy({
    name: 'isScalar',
    validator: {
      validate: (value) => ['string', 'number', 'boolean'].includes(typeof value),
      defaultMessage: ({ property } = {} as never) =>
        `${property} must be a string, a number or a boolean`,
    },
  });

export class IndicatorDto {
  @ApiProperty({ type: 'string', minLength: 1, maxLength: 64, example: 'url' })
  @IsString()
  @Length(1, 64)
  readonly type: string;

  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: 2048,
    example: 'https://login.example.net/reset',
  })
  @IsString()
  @Length(1, 2048)
  readonly value: string;

  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: 512,
    required: false,
    description: 'Where it was found, such as the JSON pointer of a field.',
    example: '/subject',
  })
  @Optional()
  @IsString()
  @Length(1, 512)
  readonly found_in?: string;
}

export class EvidenceDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: 128,
    description: '`raw_data`, or the id of a tool call.',
    example: 'raw_data',
  })
  @IsString()
  @Length(1, 128)
  readonly source: string;

  @ApiProperty({
    type: 'string',
    maxLength: 512,
    description: 'A JSON pointer from the root of the source.',
    example: '/sender',
  })
  @IsString()
  @Length(0, 512)
  readonly pointer: string;

  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
    description: 'What the pointer leads to.',
    example: 'ceo@examp1e.com',
  })
  @IsScalar()
  readonly value: string | number | boolean;
}

/** What an author states; a person's PUT takes no more. */
export class GivenVerdictDto {
  @ApiProperty({ enum: CLASSIFICATIONS, enumName: 'Classification', example: 'malicious' })
  @IsIn(CLASSIFICATIONS)
  readonly classification: Classification;

  @ApiProperty({ type: 'number', minimum: 0, maximum: 1, required: false, example: 0.97 })
  @Optional()
  @IsNumber({ allowNaN: false, allowInfinity: false })
  @Min(0)
  @Max(1)
  readonly confidence?: number;

  @ApiProperty({
    type: 'string',
    pattern: WORD.source,
    required: false,
    description:
      'An open set. Known: phishing, spear_phishing, bec, malware_delivery, spam, malware, ransomware, cryptominer, rat, pup, brute_force, credential_stuffing, impossible_travel, account_takeover, legitimate, unknown.',
    example: 'spear_phishing',
  })
  @Optional()
  @IsString()
  @Matches(WORD, { message: 'category must be a word of small letters, digits and underscores' })
  readonly category?: string;

  @ApiProperty({
    type: 'string',
    maxLength: 20_000,
    required: false,
    example: 'The sender imitates the company domain and asks for a wire transfer.',
  })
  @Optional()
  @IsString()
  @Length(0, 20_000)
  readonly reasoning?: string;

  @ApiProperty({ type: [IndicatorDto], maxItems: MOST_ITEMS, required: false })
  @Optional()
  @NestedList(() => IndicatorDto, MOST_ITEMS)
  readonly indicators?: IndicatorDto[];

  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: '^T[0-9]{4}(\\.[0-9]{3})?$' },
    maxItems: MOST_ITEMS,
    required: false,
    description: 'MITRE ATT&CK techniques.',
    example: ['T1566.001'],
  })
  @Optional()
  @IsArray()
  @ArrayMaxSize(MOST_ITEMS)
  @IsString({ each: true })
  @Matches(TECHNIQUE, {
    each: true,
    message: 'mitre_techniques must hold ids of techniques, such as T1566.001',
  })
  readonly mitre_techniques?: string[];

  @ApiProperty({ type: [EvidenceDto], maxItems: MOST_ITEMS, required: false })
  @Optional()
  @NestedList(() => EvidenceDto, MOST_ITEMS)
  readonly evidence?: EvidenceDto[];
}

export class VerdictDto extends GivenVerdictDto {
  @ApiProperty({
    type: 'string',
    description: 'The principal who gave or confirmed it, or `system` for an automatic run.',
    example: 'alice',
  })
  readonly decided_by: string;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'The model of an automatic run; `rules` for the rule-based scorer.',
    example: 'rules',
  })
  readonly model?: string;
}
