import {
  type Classification,
  CLASSIFICATIONS,
  Evidence,
  Indicator,
} from '../incidents/incident.js';
import { PageQueryDto, sortWords } from '../platform/paging/page.js';
import {
  Choice,
  Decimal,
  Field,
  Flag,
  JsonObject,
  NestedList,
  Text,
  Texts,
} from '../platform/validation/fields.js';

export class TriageRequestDto {
  @Text({
    optional: true,
    min: 1,
    max: 200,
    description:
      'Name or id of an enabled playbook. Its instructions guide the model. Its steps are not executed.',
  })
  readonly playbook?: string;

  @Flag({
    optional: true,
    default: false,
    description:
      'Asks the model even if there is a completed run. The verdict may replace the verdict of a person, or of a resolved incident.',
  })
  readonly force?: boolean;
}

const SORTS = sortWords('created_at');

export class TriageRunsQueryDto extends PageQueryDto {
  @Choice('TriageRunSort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

/** Verdict of a run. The incident may have another verdict. */
export class TriageVerdictDto {
  @Choice('Classification', CLASSIFICATIONS)
  readonly classification: Classification;

  @Decimal({ min: 0, max: 1 })
  readonly confidence: number;

  @Text()
  readonly category: string;

  @Text()
  readonly reasoning: string;

  @NestedList(() => Indicator)
  readonly indicators: readonly Indicator[];

  @Texts({ description: 'MITRE ATT&CK techniques.' })
  readonly mitre_techniques: readonly string[];

  @NestedList(() => Evidence, { description: 'Evidence that code has checked.' })
  readonly evidence: readonly Evidence[];
}

export class TriageToolCallDto {
  @Text({ description: 'Evidence names the answer by this id.' })
  readonly id: string;

  @Text()
  readonly tool: string;

  @JsonObject()
  readonly input: Readonly<Record<string, unknown>>;

  // `allOf` has the same meaning as a list of types, but some generators do not understand a list of types.
  @Field(
    { optional: true, description: 'Answer to the model: any JSON.' },
    { allOf: [{ $ref: '#/components/schemas/AnyJson' }] },
  )
  readonly output?: unknown;

  @Flag({ optional: true, description: 'Whether the question has no answer.' })
  readonly failed?: boolean;

  @Decimal({ min: 0 })
  readonly duration_ms: number;
}

export class TriagePointDto {
  @Text()
  readonly rule: string;

  @Decimal({ description: 'Positive towards malicious, negative towards benign.' })
  readonly points: number;

  @Text({ optional: true, description: 'Place in raw_data that the rule matched.' })
  readonly pointer?: string;

  @Text()
  readonly explanation: string;
}
