import { incidentNumber } from '../../../incidents/incident.js';
import type {
  IncidentAtStart,
  PlaybookRunSummary,
  ReachedStatus,
  ReachedStep,
  StepAction,
} from '../playbook-run.js';
import type { PlaybookRunEntity, PlaybookRunStepEntity } from './playbook-run.entity.js';

/** What only statements look at is not read. */
export type RunRow = Omit<PlaybookRunEntity, 'due_at' | 'lease_until' | 'classification' | 'void'>;

export const RUN_COLUMNS = [
  'id',
  'playbook_id',
  'playbook_version',
  'playbook_name',
  'incident_id',
  'status',
  'requested_by',
  'on_behalf_of',
  'automatic',
  'variables',
  'incident',
  'steps_completed',
  'steps_failed',
  'steps_total',
  'error',
  'fence',
  'wakes',
  'attempts',
  'started_at',
  'starts_at',
  'completed_at',
] as const satisfies (keyof RunRow)[];

/** There is something to do, and no replica works on it. */
export const IS_DUE = `due_at <= now() and (lease_until is null or lease_until < now())`;

export function runOf(row: RunRow): PlaybookRunSummary {
  return {
    id: row.id,
    playbookId: row.playbook_id,
    playbookVersion: row.playbook_version,
    playbookName: row.playbook_name,
    incidentId: row.incident_id ?? undefined,
    status: row.status,
    requestedBy: row.requested_by,
    onBehalfOf: row.on_behalf_of ?? undefined,
    automatic: row.automatic,
    variables: row.variables,
    incident: row.incident ? incidentOf(row.incident) : undefined,
    stepsCompleted: row.steps_completed,
    stepsFailed: row.steps_failed,
    stepsTotal: row.steps_total,
    error: row.error ?? undefined,
    fence: row.fence,
    wakes: row.wakes,
    attempts: row.attempts,
    startedAt: row.started_at,
    startsAt: row.starts_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
  };
}

/** As JSON it has its times as texts. */
function incidentOf(stored: IncidentAtStart): IncidentAtStart {
  const { createdAt, updatedAt, triagedAt } = stored;
  return {
    ...stored,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    ...(triagedAt && { triagedAt: new Date(triagedAt) }),
  };
}

export type StepRow = PlaybookRunStepEntity & {
  readonly type: StepAction['action_type'];
  readonly action_status: StepAction['status'] | null;
  readonly parameters: StepAction['parameters'];
  readonly approval_level: StepAction['approval_level'] | null;
  readonly result: StepAction['result'] | null;
  readonly rejected_by: string | null;
  readonly rejection_reason: string | null;
  readonly rejection_code: StepAction['rejection_code'] | null;
  readonly borrowed: boolean;
  readonly elsewhere: boolean;
  readonly requested_by: string | null;
  /** Of the incident of the action, unless it was deleted. */
  readonly number: string | null;
  readonly incident_created_at: Date | null;
};

export function stepOf(row: StepRow): ReachedStep {
  return {
    position: row.position,
    name: row.name,
    status: statusOf(row),
    error: row.error ?? undefined,
    startedAt: row.started_at,
    completedAt: row.completed_at ?? undefined,
    action: actionOf(row),
  };
}

/** An open step is as its action is: nothing is written about the run when somebody approves it. */
function statusOf({ status, completed_at, action_status }: StepRow): ReachedStatus {
  if (completed_at !== null) return status;
  return action_status === 'pending_approval' ? 'waiting_approval' : 'running';
}

function actionOf(row: StepRow): StepAction | undefined {
  if (row.action_id === null || row.action_status === null) return undefined;
  return {
    id: row.action_id,
    action_type: row.type,
    status: row.action_status,
    parameters: row.parameters,
    approval_level: row.approval_level ?? undefined,
    result: row.result ?? undefined,
    rejected_by: row.rejected_by ?? undefined,
    rejection_reason: row.rejection_reason ?? undefined,
    rejection_code: row.rejection_code ?? undefined,
    borrowed: row.borrowed && {
      elsewhere: row.elsewhere,
      requestedBy: row.requested_by ?? undefined,
      incidentNumber:
        row.number && row.incident_created_at
          ? incidentNumber(row.number, row.incident_created_at)
          : undefined,
    },
  };
}
