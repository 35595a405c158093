import type { Action } from '../../actions/action.js';
import type { Incident } from '../../incidents/incident.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { newId } from '../../platform/ids.js';
import { shownName } from '../../platform/text.js';
import type { RowOf } from '../../platform/validation/present.js';
import type { PlaybookVersion } from '../playbook.js';
import {
  LONGEST_VARIABLES,
  type PlaybookRunSummaryDto,
  type RunOutcome,
  type StepStatus,
} from './runs.dto.js';

/** Kind of work of runs. A run that waits for an action has no work. */
export const RUN_WORK = { name: 'playbook-run' } as const;

export const AUTO_RUNS = 'playbook-auto-runs';

/** Incident as it was when the run started. Raw data never changes, so it is not stored again. */
type IncidentAtStart = Omit<Incident, 'raw_data'> & { readonly raw_data?: undefined };

export interface PlaybookRun extends Required<
  RowOf<Omit<PlaybookRunSummaryDto, 'run_id' | 'playbook' | 'outcome'>>
> {
  readonly id: string;
  readonly playbook_name: string;
  readonly on_behalf_of: string | null;
  readonly classification: string;
  /** True if the incident or the kill switch cancelled the run before its first action. A later run may replace it. */
  readonly void: boolean;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly incident: IncidentAtStart | null;
}

type Nullable<T, Key extends keyof T> = { readonly [K in Key]?: T[K] | null };

/** `borrowed`: another run or a person requested the action. `elsewhere`: it is not an action of this incident. */
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

export interface StepChange {
  readonly position: number;
  readonly name: string;
  readonly status: Exclude<StepStatus, 'pending'>;
  readonly action_id?: string | undefined;
  readonly error?: string | undefined;
}

export type ReachedStep = Pick<StepChange, 'position' | 'name' | 'status'> &
  Nullable<PlaybookRun, 'error' | 'started_at' | 'completed_at'> & {
    readonly action?: StepAction | null;
  };

export interface PlaybookRunWithSteps extends PlaybookRun {
  readonly playbook: PlaybookVersion;
  readonly steps: readonly ReachedStep[];
}

export type RunState = Pick<PlaybookRun, 'status'> & Partial<Pick<PlaybookRun, 'error' | 'void'>>;

export function outcomeOf({ status, steps_failed }: PlaybookRun): RunOutcome | undefined {
  if (status === 'completed') return steps_failed > 0 ? 'partial' : 'succeeded';
  return status === 'failed' || status === 'cancelled' ? status : undefined;
}

/** Returns the time at which the run may start; nothing if it did not wait for PLAYBOOK_RUNS_PER_HOUR. */
export function turnOf({ started_at, starts_at }: PlaybookRun): Date | undefined {
  return starts_at !== null && starts_at > started_at ? starts_at : undefined;
}

export function isOpen({ status }: { readonly status: StepStatus }): boolean {
  return status === 'running' || status === 'waiting_approval';
}

export interface WantedRun {
  readonly playbook: PlaybookVersion;
  readonly incident?: Incident | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

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
    incident: incident ? { ...incident, raw_data: undefined } : null,
    steps_completed: 0,
    steps_failed: 0,
    steps_total: playbook.definition.steps.length,
    error: null,
    starts_at: null,
    started_at,
    completed_at: null,
  };
}

type Variables = WantedRun['variables'];

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
    if (kind === 'null' || kindOf(value) === kind) return [];
    const code = kind === 'object' ? 'is_json_object' : `is_${kind}`;
    const message = `${field} must be of the type ${kind}, as it is in the playbook.`;
    return [{ field, code, message }];
  });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
