import { CLASSIFICATIONS, type Classification } from '../../incidents/incident.js';
import {
  Choice,
  Decimal,
  NestedList,
  Text,
  Texts,
  Scalar,
} from '../../platform/validation/fields.js';
import type { RunVerdict } from '../triage-run.js';

export class TriageIndicatorDto {
  @Text({ example: 'email' })
  readonly type: string;

  @Text({ example: 'ceo@examp1e.com' })
  readonly value: string;

  @Text({ optional: true, description: 'Where it was found.', example: '/sender' })
  readonly found_in?: string;
}

export class TriageEvidenceDto {
  @Text({
    description:
      '`raw_data` or `fields` of the incident, `report/<id>` for the `raw_data` of a later report, or the id of a tool call.',
    example: 'raw_data',
  })
  readonly source: string;

  @Text({ description: 'A JSON pointer from the root of the source.', example: '/sender' })
  readonly pointer: string;

  @Scalar({
    description: 'What the pointer leads to, as code has checked.',
    example: 'ceo@examp1e.com',
  })
  readonly value: string | number | boolean;
}

/** What a run found, whether or not it became the verdict of the incident. */
export class TriageVerdictDto {
  @Choice('Classification', CLASSIFICATIONS, { example: 'malicious' })
  readonly classification: Classification;

  @Decimal({ min: 0, max: 1, example: 0.86 })
  readonly confidence: number;

  @Text({ example: 'spear_phishing' })
  readonly category: string;

  @Text({ example: 'The sender imitates the company domain, and SPF failed.' })
  readonly reasoning: string;

  @NestedList(() => TriageIndicatorDto)
  readonly indicators: TriageIndicatorDto[];

  @Texts({ description: 'MITRE ATT&CK techniques.', example: ['T1566.001'] })
  readonly mitre_techniques: string[];

  @NestedList(() => TriageEvidenceDto, {
    description: 'Only what is really there: evidence whose pointer led elsewhere was dropped.',
  })
  readonly evidence: TriageEvidenceDto[];

  static from(this: void, verdict: RunVerdict): TriageVerdictDto {
    return {
      classification: verdict.classification,
      confidence: verdict.confidence,
      category: verdict.category,
      reasoning: verdict.reasoning,
      indicators: [...verdict.indicators],
      mitre_techniques: [...verdict.mitre_techniques],
      evidence: [...verdict.evidence],
    };
  }
}
