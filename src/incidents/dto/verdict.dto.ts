import { PickType } from '@nestjs/swagger';
import {
  Choice,
  Decimal,
  Id,
  Nested,
  NestedList,
  Text,
  Texts,
} from '../../platform/validation/fields.js';
import { Scalar } from '../../platform/validation/scalar-field.js';
import { CLASSIFICATIONS, type Classification } from '../incident.js';

const MOST_ITEMS = 200;

export class IndicatorDto {
  @Text({ min: 1, max: 64, example: 'url' })
  readonly type: string;

  @Text({ min: 1, max: 2048, example: 'https://login.example.net/reset' })
  readonly value: string;

  @Text({
    optional: true,
    min: 1,
    max: 512,
    description: 'Where it was found, such as the JSON pointer of a field.',
    example: '/subject',
  })
  readonly found_in?: string;
}

export class EvidenceDto {
  @Text({
    min: 1,
    max: 128,
    description: '`raw_data` or `fields` of the incident, or the id of a tool call.',
    example: 'raw_data',
  })
  readonly source: string;

  @Text({
    min: 0,
    max: 512,
    description: 'A JSON pointer from the root of the source.',
    example: '/sender',
  })
  readonly pointer: string;

  @Scalar({ description: 'What the pointer leads to.', example: 'ceo@examp1e.com' })
  readonly value: string | number | boolean;
}

/** A verdict as its author gives it. A person's PUT takes these fields and no others. */
export class GivenVerdictDto {
  @Choice('Classification', CLASSIFICATIONS, { example: 'malicious' })
  readonly classification: Classification;

  @Decimal({ optional: true, min: 0, max: 1, example: 0.97 })
  readonly confidence?: number;

  @Text({
    optional: true,
    pattern: /^[a-z][a-z0-9_]{0,63}$/,
    message: 'category must be a word of small letters, digits and underscores',
    description:
      'An open set. Known: phishing, spear_phishing, bec, malware_delivery, spam, malware, ransomware, cryptominer, rat, pup, brute_force, credential_stuffing, impossible_travel, account_takeover, legitimate, unknown.',
    example: 'spear_phishing',
  })
  readonly category?: string;

  @Text({
    optional: true,
    min: 0,
    max: 20_000,
    example: 'The sender imitates the company domain and asks for a wire transfer.',
  })
  readonly reasoning?: string;

  @NestedList(() => IndicatorDto, { optional: true, maxItems: MOST_ITEMS })
  readonly indicators?: IndicatorDto[];

  @Texts({
    optional: true,
    maxItems: MOST_ITEMS,
    pattern: /^T[0-9]{4}(\.[0-9]{3})?$/,
    message: 'mitre_techniques must hold ids of techniques, such as T1566.001',
    description: 'MITRE ATT&CK techniques.',
    example: ['T1566.001'],
  })
  readonly mitre_techniques?: string[];

  @NestedList(() => EvidenceDto, { optional: true, maxItems: MOST_ITEMS })
  readonly evidence?: EvidenceDto[];
}

/** What a run said before a person decided. */
export class ProposedVerdictDto extends PickType(GivenVerdictDto, [
  'classification',
  'confidence',
  'category',
  'reasoning',
]) {
  @Id('TriageId', { optional: true, description: 'The run.' })
  readonly triage_id?: string;
}

export class VerdictDto extends GivenVerdictDto {
  @Text({
    description: 'The principal who gave or confirmed it, or `system` for an automatic run.',
    example: 'alice',
  })
  readonly decided_by: string;

  @Text({
    optional: true,
    description: 'The model of an automatic run; `rules` for the rule-based scorer.',
    example: 'rules',
  })
  readonly model?: string;

  @Id('TriageId', { optional: true, description: 'The run.' })
  readonly triage_id?: string;

  @Nested(() => ProposedVerdictDto, {
    optional: true,
    description: 'Of a verdict that a person gave or confirmed: what the last run before it said.',
  })
  readonly proposed?: ProposedVerdictDto;
}
