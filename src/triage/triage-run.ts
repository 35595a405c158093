import { IntersectionType, OmitType, PickType } from '@nestjs/swagger';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import {
  type Classification,
  CLASSIFICATIONS,
  Evidence,
  type Incident,
  Indicator,
} from '../incidents/incident.js';
import { columnsOf } from '../platform/database/columns.js';
import { PageQueryDto, sortWords } from '../platform/paging/page.js';
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
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';

export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const PROVIDERS = ['anthropic', 'rules', 'none'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export const UNAVAILABLE_REASONS = [
  'not_configured',
  'authentication',
  'unreachable',
  'timeout',
  'rate_limited',
  'overloaded',
  'provider_error',
  'refused',
  'truncated',
  'invalid_answer',
  'token_budget',
] as const;
export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

const OWN_MESSAGES = {
  kill_switch: 'The kill switch was turned on during the run.',
  incident_deleted: 'The incident was deleted.',
  interrupted: 'The service ended in the middle of the run four times.',
  not_needed: 'A person gave the verdict, or the incident was resolved, before triage began.',
  internal_error: 'The run ended in an error of the service. See the log of the service.',
} as const;
export const OWN_FAILURES = [...Object.keys(OWN_MESSAGES), 'discarded'];
type OwnFailure = keyof typeof OWN_MESSAGES;

export const failureOf = (reason: OwnFailure) => ({ reason, message: OWN_MESSAGES[reason] });

export class TriageErrorDto {
  @Text({
    description: `Reasons of the provider: ${UNAVAILABLE_REASONS.join(', ')}. Other reasons: ${OWN_FAILURES.join(', ')}. An open set.`,
  })
  readonly reason: UnavailableReason | OwnFailure | 'discarded';

  @Text()
  readonly message: string;
}
export type RunError = TriageErrorDto;

export const NOT_APPLIED = ['verdict_by_person', 'incident_resolved'] as const;
export type NotApplied = (typeof NOT_APPLIED)[number];

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

  @NestedList(() => Evidence, { description: 'Evidence that the service has checked.' })
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

/** A run, with the contract of the shown columns. A running run is `queued` here; its work row shows the attempt. */
@Entity('triage_runs')
export class TriageRunEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Id('IncidentId')
  @Column({ type: 'uuid' })
  readonly incident_id: string;

  @Choice('TriageStatus', RUN_STATUSES)
  @Column({ type: 'text', collation: 'C' })
  readonly status: RunStatus;

  @Text({ description: 'A person, a key, or `webhook:<source>` for a source with `auto_triage`.' })
  @Column({ type: 'text' })
  readonly requested_by: string;

  @Flag()
  @Column({ type: 'boolean', default: false })
  readonly force: boolean;

  @Text({ optional: true, description: 'Playbook whose instructions guide the model.' })
  @Column({ type: 'text', nullable: true })
  readonly playbook: string | null;

  @Texts({ description: 'Notes for readers, such as that the playbook was missing.' })
  @Column({ type: 'text', array: true, default: [] })
  readonly notes: readonly string[];

  @OpenChoice('TriageProvider', PROVIDERS, { description: 'Provider of verdicts.' })
  @Column({ type: 'text' })
  readonly provider: ProviderName;

  @Text({
    optional: true,
    description: 'Model that answered or was asked. `rules` for the built-in rules.',
  })
  @Column({ type: 'text', nullable: true })
  readonly model: string | null;

  @Text({ optional: true, description: 'Hash of all prompts, or of all rules.' })
  @Column({ type: 'text', nullable: true })
  readonly prompt_hash: string | null;

  @Column({ type: 'integer', default: 0 })
  readonly input_tokens: number;

  @Column({ type: 'integer', default: 0 })
  readonly output_tokens: number;

  @Column({ type: 'integer', default: 0 })
  readonly cached_input_tokens: number;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly tokens_at: Date | null;

  @WholeNumber({ optional: true, min: 0, description: 'Duration of the last attempt.' })
  @Column({ type: 'integer', nullable: true })
  readonly duration_ms: number | null;

  @Nested(() => TriageVerdictDto, { optional: true, description: 'Only of a completed run.' })
  @Column({ type: 'jsonb', nullable: true })
  readonly verdict: TriageVerdictDto | null;

  @OpenChoices('ActionTypeName', ACTION_TYPES, {
    optional: true,
    description: 'Recommended types of actions. The service does not execute them.',
  })
  @Column({ type: 'text', array: true, nullable: true })
  readonly recommended_actions: readonly string[] | null;

  @Choice('TriageNotApplied', NOT_APPLIED, {
    optional: true,
    description:
      'Why the verdict was not applied: a person gave the verdict of the incident, or it is resolved.',
  })
  @Column({ type: 'text', nullable: true })
  readonly not_applied: NotApplied | null;

  @NestedList(() => TriagePointDto, { optional: true, description: 'Rules that counted.' })
  @Column({ type: 'jsonb', nullable: true })
  readonly points: readonly TriagePointDto[] | null;

  @NestedList(() => TriageToolCallDto, { optional: true, description: 'Questions of the model.' })
  @Column({ type: 'jsonb', nullable: true })
  readonly tool_calls: readonly TriageToolCallDto[] | null;

  @Nested(() => TriageErrorDto, { optional: true, description: 'Why the run failed, or waits.' })
  @Column({ type: 'jsonb', nullable: true })
  readonly error: TriageErrorDto | null;

  @WholeNumber({ min: 0, description: 'Number of attempts without a verdict of the provider.' })
  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Instant({ optional: true, description: 'Start of the last attempt.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly started_at: Date | null;

  @Instant({ optional: true, description: 'End of the run, completed or failed.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

export const RUN_COLUMNS = columnsOf(TriageRunEntity, []);
const DETAILS = ['points', 'tool_calls'] as const;
export const LISTED_COLUMNS = columnsOf(TriageRunEntity, DETAILS);

export interface TriageRun extends TriageRunEntity {
  /** Only for a run that waits because of an `error`. */
  readonly next_attempt_at?: Date | null;
}

export class TriageTokensDto {
  @WholeNumber({ min: 0 })
  readonly input: number;

  @WholeNumber({ min: 0 })
  readonly output: number;

  @WholeNumber({ min: 0, description: 'Part of the input that the provider read from its cache.' })
  readonly cached_input: number;
}

const TOKENS = ['input_tokens', 'output_tokens', 'cached_input_tokens', 'tokens_at'] as const;

export class TriageRunSummaryDto extends OmitType(TriageRunEntity, ['id', ...DETAILS, ...TOKENS]) {
  @Id('TriageRunId')
  readonly triage_id: string;

  @Flag({ optional: true, description: 'Whether the incident got the verdict of a completed run.' })
  readonly applied?: boolean;

  @Nested(() => TriageTokensDto, { description: 'Tokens of all attempts.' })
  readonly tokens: TriageTokensDto;

  @Instant({ optional: true, description: 'Latest time of the next attempt after an `error`.' })
  readonly next_attempt_at?: Date;
}

export class TriageRunDto extends IntersectionType(
  TriageRunSummaryDto,
  PickType(TriageRunEntity, DETAILS),
) {}

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

export function whyNotApplied(
  { status, verdict_by_person }: Pick<Incident, 'status' | 'verdict_by_person'>,
  { force }: Pick<TriageRun, 'force'>,
): NotApplied | undefined {
  if (force) return undefined;
  if (verdict_by_person) return 'verdict_by_person';
  return status === 'resolved' ? 'incident_resolved' : undefined;
}

export function isVerdictOutdated(
  { status, verdict_by_person, triaged_at }: Incident,
  reportedAt: Date | undefined,
): boolean {
  if (!verdict_by_person || status === 'resolved' || !triaged_at || !reportedAt) return false;
  return reportedAt > triaged_at;
}

/** False if a request needs a new run: the incident was resolved when the run ended, and is open now. */
export function stillAnswers(run: Pick<TriageRun, 'not_applied'>, status: Incident['status']) {
  return run.not_applied !== 'incident_resolved' || status === 'resolved';
}
