import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import { sortWords, PageQueryDto } from '../platform/paging/page.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  Nested,
  NestedList,
  OpenChoice,
  OpenChoices,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import { TriagePointDto, TriageToolCallDto, TriageVerdictDto } from './judgement.dto.js';
import { PROVIDERS, UNAVAILABLE_REASONS } from './model/triage-model.port.js';
import {
  NOT_APPLIED,
  type NotApplied,
  OWN_FAILURES,
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
    description: `Reasons of the provider: ${UNAVAILABLE_REASONS.join(', ')}. Other reasons: ${OWN_FAILURES.join(', ')}. An open set.`,
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

export class TriageRunDto extends TriageRunSummaryDto {
  @NestedList(() => TriageToolCallDto, { optional: true, description: 'Questions of the model.' })
  readonly tool_calls?: readonly TriageToolCallDto[];

  @NestedList(() => TriagePointDto, { optional: true, description: 'Rules that counted.' })
  readonly points?: readonly TriagePointDto[];
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
