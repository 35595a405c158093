import type { ActionTypeName } from '../catalogue/action-types.js';
import { incidentNumber } from '../../incidents/incident-number.js';
import type { IncidentStatus, Severity } from '../../incidents/incident.js';
import type {
  Action,
  ActionIncident,
  ActionResult,
  ActionStatus,
  Parameters,
  Phase,
  RequiredLevel,
} from '../action.js';

export interface ActionRow {
  readonly id: string;
  readonly incident_id: string | null;
  readonly action_type: ActionTypeName;
  readonly parameters: Parameters;
  readonly status: ActionStatus;
  readonly approval_level: RequiredLevel | null;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly rollback_of: string | null;
  readonly reason: string | null;
  readonly rolled_back_by: string | null;
  readonly approved_by: string | null;
  readonly approved_at: Date | null;
  readonly approval_comment: string | null;
  readonly rejected_by: string | null;
  readonly rejected_at: Date | null;
  readonly rejection_reason: string | null;
  readonly executed_by: string | null;
  readonly executed_at: Date | null;
  readonly result: ActionResult | null;
  readonly phase: Phase | null;
  readonly sent: boolean;
  readonly fence: number;
  readonly connector_id: string | null;
  readonly handle: Record<string, unknown> | null;
  readonly accepted_at: Date | null;
  readonly incident: {
    readonly number: string;
    readonly created_at: string;
    readonly type: string;
    readonly severity: Severity;
    readonly status: IncidentStatus;
  } | null;
}

/**
 * An action is linked to its rollback by the rollback alone, so that the two cannot differ. What is said of its incident
 * comes with it, so that nothing that is said about an action costs another round trip.
 */
export const ACTION_COLUMNS = `actions.id, actions.incident_id, actions.action_type, actions.parameters, actions.status,
  actions.approval_level, actions.requested_by, actions.requested_at, actions.rollback_of, actions.reason,
  actions.approved_by, actions.approved_at, actions.approval_comment, actions.rejected_by, actions.rejected_at,
  actions.rejection_reason, actions.executed_by, actions.executed_at, actions.result, actions.phase, actions.sent,
  actions.fence, actions.connector_id, actions.handle, actions.accepted_at,
  (select back.id from actions back
    where back.rollback_of = actions.id and back.status not in ('failed', 'rejected')) as rolled_back_by,
  (select json_build_object('number', incidents.number::text, 'created_at', incidents.created_at,
                            'type', incidents.incident_type, 'severity', incidents.severity,
                            'status', incidents.status)
     from incidents where incidents.id = actions.incident_id and incidents.deleted_at is null) as incident`;

export function actionOf(row: ActionRow): Action {
  return {
    id: row.id,
    type: row.action_type,
    parameters: row.parameters,
    status: row.status,
    requestedBy: row.requested_by,
    requestedAt: row.requested_at,
    sent: row.sent,
    fence: row.fence,
    ...present({
      incidentId: row.incident_id,
      approvalLevel: row.approval_level,
      rollbackOf: row.rollback_of,
      reason: row.reason,
      rolledBackBy: row.rolled_back_by,
      approvedBy: row.approved_by,
      approvedAt: row.approved_at,
      comment: row.approval_comment,
      rejectedBy: row.rejected_by,
      rejectedAt: row.rejected_at,
      rejectionReason: row.rejection_reason,
      executedBy: row.executed_by,
      executedAt: row.executed_at,
      result: row.result,
      phase: row.phase,
      connectorId: row.connector_id,
      handle: row.handle,
      acceptedAt: row.accepted_at,
      incident: incidentOf(row),
    }),
  };
}

function incidentOf({ incident }: ActionRow): ActionIncident | null {
  if (!incident) return null;
  const { number, created_at, type, severity, status } = incident;
  return {
    incidentNumber: incidentNumber(number, new Date(created_at)),
    incidentType: type,
    severity,
    status,
  };
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null),
  ) as Present<T>;
}
