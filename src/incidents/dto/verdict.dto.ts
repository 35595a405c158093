import { PickType } from '@nestjs/swagger';
import {
  Choice,
  Decimal,
  Id,
  Nested,
  NestedList,
  NullIsAbsent,
  Scalar,
  Text,
  Texts,
} from '../../platform/validation/fields.js';

export const CLASSIFICATIONS = ['malicious', 'suspicious', 'benign', 'inconclusive'] as const;
export type Classification = (typeof CLASSIFICATIONS)[number];

const MOST_ITEMS = 200;

export class IndicatorDto {
  @Text({ min: 1, max: 64 })
  readonly type: string;

  @Text({ min: 1, max: 2048 })
  readonly value: string;

  @Text({
    optional: true,
    min: 1,
    max: 512,
    description: 'Location of the value, such as the JSON pointer of a field.',
  })
  readonly found_in?: string;
}

export class EvidenceDto {
  @Text({
    min: 1,
    max: 128,
    description:
      '`raw_data` or `fields` of the incident, `report/<id>` for the `raw_data` of a later report, or the id of a tool call.',
  })
  readonly source: string;

  @Text({ min: 0, max: 512, description: 'JSON pointer from the root of the source.' })
  readonly pointer: string;

  @Scalar({ description: 'Value at the pointer.' })
  readonly value: string | number | boolean;
}

class VerdictFieldsDto {
  @Choice('Classification', CLASSIFICATIONS)
  readonly classification: Classification;

  @Decimal({ optional: true, min: 0, max: 1 })
  readonly confidence?: number;

  @Text({
    optional: true,
    pattern: /^[a-z][a-z0-9_]{0,63}$/,
    message: 'category must be lower-case letters, digits and underscores',
    description:
      'An open set. Known: phishing, spear_phishing, bec, malware_delivery, spam, malware, ransomware, cryptominer, rat, pup, brute_force, credential_stuffing, impossible_travel, account_takeover, legitimate, unknown.',
  })
  readonly category?: string;

  @Text({ optional: true, min: 0, max: 20_000 })
  readonly reasoning?: string;

  @NestedList(() => IndicatorDto, { optional: true, maxItems: MOST_ITEMS })
  readonly indicators?: readonly IndicatorDto[];

  @Texts({
    optional: true,
    maxItems: MOST_ITEMS,
    pattern: /^T[0-9]{4}(\.[0-9]{3})?$/,
    message: 'mitre_techniques must be technique ids such as T1566.001',
    description: 'MITRE ATT&CK techniques.',
  })
  readonly mitre_techniques?: readonly string[];

  @NestedList(() => EvidenceDto, { optional: true, maxItems: MOST_ITEMS })
  readonly evidence?: readonly EvidenceDto[];
}

@NullIsAbsent()
export class GivenVerdictDto extends VerdictFieldsDto {}

export class ProposedVerdictDto extends PickType(VerdictFieldsDto, [
  'classification',
  'confidence',
  'category',
  'reasoning',
]) {
  @Id('TriageId', { optional: true, description: 'The run.' })
  readonly triage_id?: string;
}

export class VerdictDto extends VerdictFieldsDto {
  @Text({
    description: 'Principal who gave or confirmed the verdict, or `system` for an automatic run.',
  })
  readonly decided_by: string;

  @Text({
    optional: true,
    description: 'Model of an automatic run; `rules` for the rule-based scorer.',
  })
  readonly model?: string;

  @Id('TriageId', { optional: true, description: 'The run.' })
  readonly triage_id?: string;

  @Nested(() => ProposedVerdictDto, {
    optional: true,
    description:
      'Of a verdict that a person gave or confirmed: the verdict of the last run before it, or of a run that judged a later report.',
  })
  readonly proposed?: ProposedVerdictDto;
}
