import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
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
  Text,
  Texts,
  WholeNumber,
} from '../../platform/validation/fields.js';
import { PROVIDERS, type ScoredPoint, type ToolCall } from '../model/triage-model.port.js';
import {
  NOT_APPLIED,
  type NotApplied,
  RUN_STATUSES,
  type RunStatus,
  type TriageRun,
  type TriageRunSummary,
} from '../triage-run.js';
import { TriageVerdictDto } from './triage-verdict.dto.js';

const TIME = '2026-01-31T09:30:00.000Z';

export class TriageTokensDto {
  @WholeNumber({ min: 0, example: 2841 })
  readonly input: number;

  @WholeNumber({ min: 0, example: 412 })
  readonly output: number;

  @WholeNumber({ min: 0, description: 'Of the input, what the provider had cached.', example: 0 })
  readonly cached_input: number;
}

export class TriageErrorDto {
  @Text({
    description:
      'not_configured, authentication, unreachable, timeout, rate_limited, overloaded, provider_error, refused, truncated, invalid_answer or token_budget say what was wrong with the provider; kill_switch, incident_deleted, interrupted, discarded and internal_error what else ended it. An open set.',
    example: 'overloaded',
  })
  readonly reason: string;

  @Text({ example: 'The provider is overloaded.' })
  readonly message: string;
}

/** The model's name is of the provider that answers; the request for a run is answered with one of these. */
export class TriageRunSummaryDto {
  @Id('TriageRunId')
  readonly triage_id: string;

  @Id('IncidentId')
  readonly incident_id: string;

  @Choice('TriageStatus', RUN_STATUSES, { example: 'completed' })
  readonly status: RunStatus;

  @Nested(() => TriageVerdictDto, { optional: true, description: 'Once it is completed.' })
  readonly verdict?: TriageVerdictDto;

  @OpenChoices('ActionTypeName', ACTION_TYPES, {
    optional: true,
    description: 'What it recommends. None of it is done by that.',
    example: ['quarantine_email', 'block_sender'],
  })
  readonly recommended_actions?: string[];

  @WholeNumber({ optional: true, min: 0, description: 'Of its last attempt.', example: 3120 })
  readonly duration_ms?: number;

  @Flag({
    optional: true,
    description: 'Whether its verdict became that of the incident. Once it is completed.',
    example: true,
  })
  readonly applied?: boolean;

  @Choice('TriageNotApplied', NOT_APPLIED, {
    optional: true,
    description: 'Why it did not: a person gave the verdict of the incident, or it is resolved.',
  })
  readonly not_applied?: NotApplied;

  @OpenChoice('TriageProvider', PROVIDERS, { example: 'anthropic' })
  readonly provider: string;

  @Text({
    optional: true,
    description:
      'The model that answered; of a run without an answer, the one that was asked. `rules` for the rule-based scorer.',
    example: 'rules',
  })
  readonly model?: string;

  @Text({
    optional: true,
    description:
      'A hash of all prompts or rules: runs with the same one were asked in the same words.',
    example: '9f2b',
  })
  readonly prompt_hash?: string;

  @Nested(() => TriageTokensDto, { description: 'Of all its attempts.' })
  readonly tokens: TriageTokensDto;

  @Text({
    description:
      'The principal who asked for it: a person, a key, or `webhook:<source>` where a source wants its incidents triaged.',
    example: 'alice',
  })
  readonly requested_by: string;

  @Flag({ example: false })
  readonly force: boolean;

  @Text({
    optional: true,
    description: 'Whose instructions were to guide it.',
    example: 'phishing-response',
  })
  readonly playbook?: string;

  @Texts({
    description: 'What a reader has to know, such as that its playbook was missing.',
    example: [],
  })
  readonly notes: string[];

  @Nested(() => TriageErrorDto, {
    optional: true,
    description: 'Why it failed; of one that waits, what it waits for.',
  })
  readonly error?: TriageErrorDto;

  @Instant({
    optional: true,
    description:
      'Of one that waits because of an `error`: not before then, unless it is over sooner.',
    example: TIME,
  })
  readonly next_attempt_at?: string;

  @WholeNumber({
    min: 0,
    description: 'How many of its attempts got no verdict of the provider.',
    example: 0,
  })
  readonly failures: number;

  @Instant({ example: TIME })
  readonly created_at: string;

  @Instant({ optional: true, description: 'When its last attempt began.', example: TIME })
  readonly started_at?: string;

  @Instant({ optional: true, description: 'When it ended: completed or failed.', example: TIME })
  readonly completed_at?: string;

  static from(this: void, run: TriageRunSummary): TriageRunSummaryDto {
    const { verdict, recommendedActions, notApplied, error, tokens } = run;
    return {
      triage_id: run.id,
      incident_id: run.incidentId,
      status: run.status,
      verdict: verdict && TriageVerdictDto.from(verdict),
      recommended_actions: recommendedActions && [...recommendedActions],
      duration_ms: run.durationMs,
      applied: verdict && notApplied === undefined,
      not_applied: notApplied,
      provider: run.provider,
      model: run.model,
      prompt_hash: run.promptHash,
      tokens: {
        input: tokens.input,
        output: tokens.output,
        cached_input: tokens.cachedInput ?? 0,
      },
      requested_by: run.requestedBy,
      force: run.force,
      playbook: run.playbook,
      notes: [...run.notes],
      error: error && { reason: error.reason, message: error.message },
      next_attempt_at: run.nextAttemptAt?.toISOString(),
      failures: run.failures,
      created_at: run.createdAt.toISOString(),
      started_at: run.startedAt?.toISOString(),
      completed_at: run.completedAt?.toISOString(),
    };
  }
}

export class TriageToolCallDto {
  @Text({ description: 'By which evidence refers to the answer.', example: 't1' })
  readonly id: string;

  @Text({ example: 'related_incidents' })
  readonly tool: string;

  @JsonObject({ example: { indicator_id: 'i1' } })
  readonly input: Record<string, unknown>;

  @Field(
    {
      optional: true,
      description: 'What the model was answered: any JSON.',
      example: { incidents: [] },
    },
    {
      // A list of types, which would say the same, is more than some generators understand.
      allOf: [{ $ref: '#/components/schemas/AnyJson' }],
    },
  )
  readonly output?: unknown;

  @Flag({ optional: true, description: 'The question was not answered.' })
  readonly failed?: boolean;

  @Decimal({ min: 0, example: 12 })
  readonly duration_ms: number;

  static from(this: void, call: ToolCall): TriageToolCallDto {
    return {
      id: call.id,
      tool: call.tool,
      input: { ...call.input },
      output: call.output ?? undefined,
      failed: call.failed,
      duration_ms: call.durationMs,
    };
  }
}

export class TriagePointDto {
  @Text({ example: 'spf_failed' })
  readonly rule: string;

  @Decimal({ description: 'Towards malicious, or below 0 towards benign.', example: 20 })
  readonly points: number;

  @Text({
    optional: true,
    description: 'What it was counted for, in raw_data.',
    example: '/headers/0',
  })
  readonly pointer?: string;

  @Text({ example: 'SPF failed for the sender.' })
  readonly explanation: string;

  static from(this: void, { rule, points, pointer, explanation }: ScoredPoint): TriagePointDto {
    return { rule, points, pointer, explanation };
  }
}

export class TriageRunDto extends TriageRunSummaryDto {
  @NestedList(() => TriageToolCallDto, {
    optional: true,
    description: 'What the model asked, and what it was answered. Long answers are cut.',
  })
  readonly tool_calls?: TriageToolCallDto[];

  @NestedList(() => TriagePointDto, {
    optional: true,
    description: 'With the rule-based scorer: each rule that counted.',
  })
  readonly points?: TriagePointDto[];

  static override from(this: void, run: TriageRun): TriageRunDto {
    return {
      ...TriageRunSummaryDto.from(run),
      tool_calls: run.toolCalls?.map(TriageToolCallDto.from),
      points: run.points?.map(TriagePointDto.from),
    };
  }
}

/** 202 for a run that goes on without the request. */
export function statusOfTriage(run: Pick<TriageRun, 'status'>): number {
  return run.status === 'completed' ? 200 : 202;
}
