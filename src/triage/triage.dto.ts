import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import { type Classification, CLASSIFICATIONS } from '../incidents/incident.js';
import { sortWords, PageQueryDto } from '../platform/paging/page.js';
import {
  Choice,
  Decimal,
  Field,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  OpenChoices,
  Scalar,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import { PROVIDERS } from './model/triage-model.port.js';
import {
  NOT_APPLIED,
  type NotApplied,
  RUN_STATUSES,
  type RunStatus,
  type TriageRun,
} from './triage-run.js';

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

export class TriageIndicatorDto {
  @Text()
  readonly type: string;

  @Text()
  readonly value: string;

  @Text({ optional: true, description: 'Place of the indicator in raw_data.' })
  readonly found_in?: string;
}

export class TriageEvidenceDto {
  @Text({
    description:
      '`raw_data` or `fields` of the incident, `report/<id>` for the `raw_data` of a later report, or the id of a tool call.',
  })
  readonly source: string;

  @Text({ description: 'A JSON pointer from the root of the source.' })
  readonly pointer: string;

  @Scalar({ description: 'Value at the pointer. Code has checked it.' })
  readonly value: string | number | boolean;
}

/** Verdict of a run, even if it did not become the verdict of the incident. */
export class TriageVerdictDto {
  @Choice('Classification', CLASSIFICATIONS)
  readonly classification: Classification;

  @Decimal({ min: 0, max: 1 })
  readonly confidence: number;

  @Text()
  readonly category: string;

  @Text()
  readonly reasoning: string;

  @NestedList(() => TriageIndicatorDto)
  readonly indicators: TriageIndicatorDto[];

  @Texts({ description: 'MITRE ATT&CK techniques.' })
  readonly mitre_techniques: string[];

  @NestedList(() => TriageEvidenceDto, { description: 'Evidence that code has checked.' })
  readonly evidence: TriageEvidenceDto[];
}

export class TriageTokensDto {
  @WholeNumber({ min: 0 })
  readonly input: number;

  @WholeNumber({ min: 0 })
  readonly output: number;

  @WholeNumber({ min: 0, description: 'Part of the input that the provider read from its cache.' })
  readonly cached_input: number;
}

export class TriageErrorDto {
  @Text({
    description:
      'Reasons of the provider: not_configured, authentication, unreachable, timeout, rate_limited, overloaded, provider_error, refused, truncated, invalid_answer, token_budget. Other reasons: kill_switch, incident_deleted, interrupted, discarded, not_needed, internal_error. An open set.',
  })
  readonly reason: string;

  @Text()
  readonly message: string;
}

export class TriageRunSummaryDto {
  @Id('TriageRunId')
  readonly triage_id: string;

  @Id('IncidentId')
  readonly incident_id: string;

  @Choice('TriageStatus', RUN_STATUSES)
  readonly status: RunStatus;

  @Nested(() => TriageVerdictDto, { optional: true, description: 'Only of a completed run.' })
  readonly verdict?: TriageVerdictDto;

  @OpenChoices('ActionTypeName', ACTION_TYPES, {
    optional: true,
    description: 'Recommended types of actions. The service does not execute them.',
  })
  readonly recommended_actions?: string[];

  @WholeNumber({ optional: true, min: 0, description: 'Duration of the last attempt.' })
  readonly duration_ms?: number;

  @Flag({ optional: true, description: 'Whether the incident got the verdict of a completed run.' })
  readonly applied?: boolean;

  @Choice('TriageNotApplied', NOT_APPLIED, {
    optional: true,
    description:
      'Why the verdict was not applied: a person gave the verdict of the incident, or it is resolved.',
  })
  readonly not_applied?: NotApplied;

  @OpenChoice('TriageProvider', PROVIDERS, { description: 'Provider of verdicts.' })
  readonly provider: string;

  @Text({ optional: true, description: 'The model that answered or was asked. `rules` for rules.' })
  readonly model?: string;

  @Text({ optional: true, description: 'Hash of all prompts, or of all rules.' })
  readonly prompt_hash?: string;

  @Nested(() => TriageTokensDto, { description: 'Tokens of all attempts.' })
  readonly tokens: TriageTokensDto;

  @Text({ description: 'A person, a key, or `webhook:<source>` for a source with `auto_triage`.' })
  readonly requested_by: string;

  @Flag()
  readonly force: boolean;

  @Text({ optional: true, description: 'Playbook whose instructions guide the model.' })
  readonly playbook?: string;

  @Texts({ description: 'Notes for readers, such as that the playbook was missing.' })
  readonly notes: string[];

  @Nested(() => TriageErrorDto, { optional: true, description: 'Why the run failed, or waits.' })
  readonly error?: TriageErrorDto;

  @Instant({ optional: true, description: 'Latest time of the next attempt after an `error`.' })
  readonly next_attempt_at?: Date;

  @WholeNumber({ min: 0, description: 'Number of attempts without a verdict of the provider.' })
  readonly failures: number;

  @Instant()
  readonly created_at: Date;

  @Instant({ optional: true, description: 'Start of the last attempt.' })
  readonly started_at?: Date;

  @Instant({ optional: true, description: 'End of the run, completed or failed.' })
  readonly completed_at?: Date;
}

export class TriageToolCallDto {
  @Text({ description: 'Evidence names the answer by this id.' })
  readonly id: string;

  @Text()
  readonly tool: string;

  @JsonObject()
  readonly input: Record<string, unknown>;

  @Field(
    {
      optional: true,
      description: 'Answer to the model: any JSON.',
    },
    {
      // Has the same meaning as a list of types, which some generators do not understand.
      allOf: [{ $ref: '#/components/schemas/AnyJson' }],
    },
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

export class TriageRunDto extends TriageRunSummaryDto {
  @NestedList(() => TriageToolCallDto, { optional: true, description: 'Questions of the model.' })
  readonly tool_calls?: TriageToolCallDto[];

  @NestedList(() => TriagePointDto, { optional: true, description: 'Rules that counted.' })
  readonly points?: TriagePointDto[];
}

const presentRun = present(TriageRunDto);

export function presentTriageRun(run: TriageRun): TriageRunDto {
  const { input_tokens: input, output_tokens: output, cached_input_tokens: cached_input } = run;
  const applied = run.verdict && run.not_applied === null;
  return presentRun({
    ...run,
    triage_id: run.id,
    applied,
    tokens: { input, output, cached_input },
  });
}

export function statusOfTriage(run: Pick<TriageRun, 'status'>): number {
  return run.status === 'completed' ? 200 : 202;
}

const SORTS = sortWords('created_at');

export class TriageRunsQueryDto extends PageQueryDto {
  @Choice('TriageRunSort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}
