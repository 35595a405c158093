import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Action } from '../../actions/action.js';
import type { Incident } from '../../incidents/incident.js';
import { columnsOf } from '../../platform/database/columns.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { shownName } from '../../platform/text.js';
import type { PlaybookVersion } from '../playbook.js';

/** Kind of work of runs. A run that waits for an action has no work. */
export const RUN_WORK = { name: 'playbook-run' } as const;

export const AUTO_RUNS = 'playbook-auto-runs';

const OPEN = ['running', 'waiting_approval'] as const;
export const PLAYBOOK_RUN_STATUSES = [...OPEN, 'completed', 'failed', 'cancelled'] as const;
export type PlaybookRunStatus = (typeof PLAYBOOK_RUN_STATUSES)[number];

export const STEP_STATUSES = [
  'pending',
  ...OPEN,
  'completed',
  'failed',
  'skipped',
  'cancelled',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];
type ReachedStatus = Exclude<StepStatus, 'pending'>;

/** Incident at the start of a run. Raw data never changes, so it is not stored again. */
export type IncidentAtStart = Omit<Incident, 'raw_data'>;

@Entity('playbook_runs')
@ForeignKey('playbook_versions', ['playbook_id', 'playbook_version'], ['playbook_id', 'version'], {
  name: 'fk_playbook_runs_version',
})
@Check(
  'ck_playbook_runs_status',
  `status in ('running', 'waiting_approval', 'completed', 'failed', 'cancelled')`,
)
@Check(
  'ck_playbook_runs_ended',
  `(completed_at is not null) = (status in ('completed', 'failed', 'cancelled'))`,
)
@Index('ix_playbook_runs_playbook', ['playbook_id', 'id'])
@Index('ix_playbook_runs_playbook_status', ['playbook_id', 'status', 'id'])
@Index('ix_playbook_runs_incident', ['incident_id', 'id'], { where: 'incident_id is not null' })
@Index('ix_playbook_runs_starts', ['playbook_id', 'starts_at'], { where: 'starts_at is not null' })
@Index('ix_playbook_runs_status', ['status', 'id'])
@Index(
  'uq_playbook_runs_automatic',
  ['incident_id', 'playbook_id', 'playbook_version', 'classification'],
  { unique: true, where: 'automatic and not void' },
)
export class PlaybookRunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbook_runs' })
  readonly id: string;

  @Column({ type: 'uuid' })
  readonly playbook_id: string;

  @Column({ type: 'integer' })
  readonly playbook_version: number;

  @Column({ type: 'text', collation: 'C' })
  readonly playbook_name: string;

  @Column({ type: 'uuid', nullable: true })
  @ForeignKey('incidents', { name: 'fk_playbook_runs_incident' })
  readonly incident_id: string | null;

  @Column({ type: 'text', collation: 'C' })
  readonly status: PlaybookRunStatus;

  @Column({ type: 'text' })
  readonly requested_by: string;

  @Column({ type: 'text', nullable: true })
  readonly on_behalf_of: string | null;

  @Column({ type: 'boolean', default: false })
  readonly automatic: boolean;

  @Column({ type: 'text', collation: 'C', default: '' })
  readonly classification: string;

  /** Cancelled with its incident or by the kill switch before its first action began. A later automatic run may replace it. */
  @Column({ type: 'boolean', default: false })
  readonly void: boolean;

  @Column({ type: 'json' })
  readonly variables: Readonly<Record<string, unknown>>;

  @Column({ type: 'json', nullable: true })
  readonly incident: IncidentAtStart | null;

  @Column({ type: 'integer', default: 0 })
  readonly steps_completed: number;

  @Column({ type: 'integer', default: 0 })
  readonly steps_failed: number;

  @Column({ type: 'integer' })
  readonly steps_total: number;

  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  /** Earliest start of an automatic run under a rate limit. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly starts_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly started_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

@Entity('playbook_run_steps')
@Check(
  'ck_playbook_run_steps_status',
  `status in ('running', 'waiting_approval', 'completed', 'failed', 'skipped', 'cancelled')`,
)
@Check(
  'ck_playbook_run_steps_ended',
  `(completed_at is null) = (status in ('running', 'waiting_approval'))`,
)
@Check('ck_playbook_run_steps_action', `action_id is not null or status in ('failed', 'skipped')`)
@Index('ix_playbook_run_steps_action', ['action_id'])
@Index('ix_playbook_run_steps_failed', ['completed_at'], {
  where: `status = 'failed' and action_id is null`,
})
@Index('ix_playbook_run_steps_open', ['run_id'], { where: 'completed_at is null' })
export class PlaybookRunStepEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbook_run_steps' })
  @ForeignKey(() => PlaybookRunEntity, { name: 'fk_playbook_run_steps_run' })
  readonly run_id: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_playbook_run_steps' })
  readonly position: number;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: ReachedStatus;

  /** Steps of several runs may wait for one action. */
  @Column({ type: 'uuid', nullable: true })
  @ForeignKey('actions', { name: 'fk_playbook_run_steps_action' })
  readonly action_id: string | null;

  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly started_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

export type PlaybookRun = PlaybookRunEntity;
export const RUN_COLUMNS = columnsOf(PlaybookRunEntity, []);

type Nullable<T, Key extends keyof T> = { readonly [K in Key]?: T[K] | null };

/** Action of a step. `borrowed`: requested by another run or person. `elsewhere`: for another incident, or without incident. */
export type StepAction = Pick<Action, 'id' | 'action_type' | 'status' | 'parameters'> &
  Nullable<
    Action,
    'approval_level' | 'result' | 'rejected_by' | 'rejection_reason' | 'rejection_code'
  > & {
    readonly borrowed: boolean;
    readonly elsewhere: boolean;
    readonly requested_by?: string;
    readonly incident_number?: string | null;
  };

export type ReachedStep = Pick<PlaybookRunStepEntity, 'position' | 'name' | 'status'> &
  Nullable<PlaybookRunStepEntity, 'error' | 'started_at' | 'completed_at'> & {
    readonly action?: StepAction | null;
  };

export interface PlaybookRunWithSteps extends PlaybookRun {
  readonly playbook: PlaybookVersion;
  readonly steps: readonly ReachedStep[];
}

export type StepChange = Pick<PlaybookRunStepEntity, 'position' | 'name' | 'status'> & {
  readonly action_id?: string;
  readonly error?: string;
};

export type RunState = Pick<PlaybookRun, 'status'> & Partial<Pick<PlaybookRun, 'error' | 'void'>>;

/** Outcomes of a run. `partial`: the run reached its end, but steps with `on_error: continue` failed. */
export const RUN_OUTCOMES = ['succeeded', 'partial', 'failed', 'cancelled'] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

export function outcomeOf({ status, steps_failed }: PlaybookRun): RunOutcome | undefined {
  if (status === 'completed') return steps_failed > 0 ? 'partial' : 'succeeded';
  return status === 'failed' || status === 'cancelled' ? status : undefined;
}

/** Returns the later start of a run whose playbook had reached PLAYBOOK_RUNS_PER_HOUR. */
export function turnOf({ started_at, starts_at }: PlaybookRun): Date | undefined {
  return starts_at !== null && starts_at > started_at ? starts_at : undefined;
}

export function isOpen({ status }: { readonly status: StepStatus }): boolean {
  return status === 'running' || status === 'waiting_approval';
}

export interface WantedRun {
  readonly playbook: PlaybookVersion;
  readonly incident?: Incident;
  readonly variables: Readonly<Record<string, unknown>>;
}

const withoutRawData = ({ raw_data: _, ...incident }: Incident): IncidentAtStart => incident;

export function newRun(
  { playbook, incident, variables }: WantedRun,
  requested_by: string,
  started_at: Date,
): PlaybookRun {
  return {
    id: newId(started_at.getTime()),
    playbook_id: playbook.id,
    playbook_version: playbook.version,
    playbook_name: playbook.name,
    incident_id: incident?.id ?? null,
    status: 'running',
    requested_by,
    on_behalf_of: null,
    automatic: false,
    classification: '',
    void: false,
    variables,
    incident: incident ? withoutRawData(incident) : null,
    steps_completed: 0,
    steps_failed: 0,
    steps_total: playbook.definition.steps.length,
    error: null,
    starts_at: null,
    started_at,
    completed_at: null,
  };
}

type Variables = Readonly<Record<string, unknown>>;

export const LONGEST_VARIABLES = 32_768;

const KINDS = {
  string: ['is_string', 'a string'],
  number: ['is_number', 'a number'],
  boolean: ['is_boolean', 'true or false'],
  array: ['is_array', 'a list'],
  object: ['is_json_object', 'an object'],
} as const;

export function variableErrors(defaults: Variables, given: Variables): FieldError[] {
  if (JSON.stringify(given).length > LONGEST_VARIABLES) {
    const message = `variables must be at most ${LONGEST_VARIABLES} characters as JSON.`;
    return [{ field: 'variables', code: 'max_length', message }];
  }
  return Object.entries(given).flatMap(([name, value]) => {
    const field = `variables.${shownName(name)}`;
    if (!Object.hasOwn(defaults, name)) {
      const message = `${field} is not a variable of the playbook.`;
      return [{ field, code: 'unknown_field', message }];
    }
    const kind = kindOf(defaults[name]);
    // The type of a variable without a value is unknown.
    if (!kind || kindOf(value) === kind) return [];
    const [code, inWords] = KINDS[kind];
    return [{ field, code, message: `${field} must be ${inWords}, as it is in the playbook.` }];
  });
}

function kindOf(value: unknown): keyof typeof KINDS | undefined {
  if (value === null) return undefined;
  return Array.isArray(value) ? 'array' : (typeof value as keyof typeof KINDS);
}
