import type { DataSource } from 'typeorm';
import type { ActionStatus, Phase } from '../../../src/actions/action.js';
import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import { newId } from '../../../src/platform/ids.js';

/** What a test says of an action that it puts straight into the table. */
export interface ActionFields {
  readonly status?: ActionStatus;
  readonly phase?: Phase | null;
  readonly fence?: number;
  readonly sent?: boolean;
  /** From now on; negative for a lease that has lapsed. */
  readonly leaseMs?: number;
  readonly acceptedAgoMs?: number;
  readonly type?: ActionTypeName;
  readonly connectorId?: string;
  readonly incidentId?: string;
  readonly rollbackOf?: string;
  readonly requestedAgoMs?: number;
}

/** What a run writes of an action. */
export interface RunRow {
  readonly status: ActionStatus;
  readonly phase: Phase | null;
  readonly fence: number;
  readonly sent: boolean;
  readonly lease_until: Date | null;
  readonly connector_id: string | null;
  readonly handle: unknown;
  readonly result: { readonly code?: string } | null;
}

export const PARAMETERS_OF_TABLE = { ip: '203.0.113.9' };

/** Puts an action into the table as a run left it: claimed for the first time unless the test says otherwise. */
export async function insertAction(db: DataSource, fields: ActionFields = {}): Promise<string> {
  const { status = 'pending', phase = 'claimed', fence = 1, sent = false } = fields;
  const { leaseMs = 60_000, connectorId = 'vendor', requestedAgoMs = 0 } = fields;
  // As of a request so long ago: ids order by time, and two of the same millisecond by chance.
  const id = newId(Date.now() - requestedAgoMs);
  const pending = status === 'pending';
  const ended = status === 'completed' || status === 'failed';
  await db.query(
    `insert into actions (id, action_type, parameters, status, phase, fence, sent, connector_id, incident_id,
                          lease_until, requested_by, requested_at, approval_level, result, accepted_at, rollback_of)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10 * interval '1 millisecond', 'alice',
             now() - $11 * interval '1 millisecond', $12, $13, now() - $14 * interval '1 millisecond', $15)`,
    [
      id,
      fields.type ?? 'block_ip',
      JSON.stringify(PARAMETERS_OF_TABLE),
      status,
      pending ? phase : null,
      fence,
      sent,
      connectorId,
      fields.incidentId,
      pending ? leaseMs : null,
      requestedAgoMs,
      status === 'pending_approval' ? 'analyst' : null,
      ended ? { success: status === 'completed', message: 'Ended.' } : null,
      fields.acceptedAgoMs,
      fields.rollbackOf,
    ],
  );
  return id;
}

export async function rowOf(db: DataSource, id: string): Promise<RunRow> {
  const [row] = await db.query<RunRow[]>(
    `select status, phase, fence, sent, lease_until, connector_id, handle, result from actions where id = $1`,
    [id],
  );
  return row!;
}
