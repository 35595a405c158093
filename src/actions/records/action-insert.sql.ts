// SQL: requests are a hot path, one statement for all that are made together.
import type { Statement } from '../../platform/database/statements.js';
import { type InsertedColumn, namesOf, valuesOfRows } from '../../platform/database/insert-rows.js';
import type { Action, ActionResult, ActionStatus, RequiredLevel } from '../action.js';
import type { NewClaim } from '../execution/claim.repository.js';
import { ACTION_COLUMNS } from './action-rows.js';

export interface NewAction extends Pick<
  Action,
  'id' | 'incidentId' | 'type' | 'parameters' | 'requestedBy' | 'requestedAt' | 'rollbackOf'
> {
  readonly status: ActionStatus;
  readonly approvalLevel?: RequiredLevel;
  readonly reason?: string;
  readonly result?: ActionResult;
  /** How long whoever requested it has to begin it. */
  readonly graceMs: number;
  /** Where it has begun with this: see ClaimRepository. */
  readonly claim?: NewClaim;
}

const COLUMNS: readonly InsertedColumn<NewAction>[] = [
  { name: 'id', type: 'uuid', of: ({ id }) => id },
  { name: 'incident_id', type: 'uuid', of: ({ incidentId }) => incidentId ?? null },
  { name: 'action_type', type: 'text', of: ({ type }) => type },
  { name: 'parameters', type: 'json', of: ({ parameters }) => JSON.stringify(parameters) },
  { name: 'status', type: 'text', of: ({ status }) => status },
  { name: 'approval_level', type: 'text', of: ({ approvalLevel }) => approvalLevel ?? null },
  { name: 'requested_by', type: 'text', of: ({ requestedBy }) => requestedBy },
  { name: 'requested_at', type: 'timestamptz', of: (row) => row.requestedAt.toISOString() },
  { name: 'rollback_of', type: 'uuid', of: ({ rollbackOf }) => rollbackOf ?? null },
  { name: 'reason', type: 'text', of: ({ reason }) => reason ?? null },
  { name: 'result', type: 'json', of: ({ result }) => (result ? JSON.stringify(result) : null) },
  { name: 'connector_id', type: 'text', of: ({ claim }) => claim?.connectorId ?? null },
];

const NAMES = namesOf(COLUMNS);
const ARRAYS = COLUMNS.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');

/** What has a connector is claimed for it. The lease begins when it is inserted. */
export const INSERT_ACTIONS: Statement = {
  name: 'actions_insert',
  text: `
    insert into actions (${NAMES}, lease_until, phase, fence)
    select ${NAMES}, case when status = 'pending' then now() + lease_ms * interval '1 millisecond' end,
           case when connector_id is not null then 'claimed' end, (connector_id is not null)::integer
      from unnest(${ARRAYS}, $${COLUMNS.length + 1}::integer[]) as added (${NAMES}, lease_ms)
    returning ${ACTION_COLUMNS}`,
};

export function newActionValues(actions: readonly NewAction[]): unknown[] {
  const leases = actions.map(({ claim, graceMs }) => claim?.leaseMs ?? graceMs);
  return [...valuesOfRows(COLUMNS, actions), leases];
}
