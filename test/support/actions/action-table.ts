import type { DataSource } from 'typeorm';
import type { ActionStatus } from '../../../src/actions/action.js';
import type { ActionTypeName } from '../../../src/action-catalogue/action-types.js';
import type { CallState } from '../../../src/actions/execution/execution-rules.js';
import { newId } from '../../../src/platform/ids.js';

/** Fields of an action that a test inserts directly into the tables, and of its work. */
export interface ActionFields {
  readonly status?: ActionStatus;
  readonly type?: ActionTypeName;
  readonly connectorId?: string;
  readonly incidentId?: string;
  readonly rollbackOf?: string;
  readonly requestedAgoMs?: number;
  /** State of the work of a pending action. Default: it waits for a worker. */
  readonly work?: 'waits' | 'claimed' | 'lapsed' | 'accepted';
  readonly state?: CallState;
}

export interface ActionRow {
  readonly status: ActionStatus;
  readonly connector_id: string | null;
  readonly result: { readonly code?: string } | null;
  /** Null for an action without work. */
  readonly work: {
    readonly lane: string;
    readonly ready: boolean;
    readonly worker: string | null;
    readonly state: CallState | null;
  } | null;
}

export const PARAMETERS_OF_TABLE = { ip: '203.0.113.9' };

/** Inserts an action. A pending action has work in the lane of its connector. */
export async function insertAction(db: DataSource, fields: ActionFields = {}): Promise<string> {
  const { status = 'pending', connectorId = 'vendor', requestedAgoMs = 0, work = 'waits' } = fields;
  // Ids are sorted by time. Ids of the same millisecond have a random order.
  const id = newId(Date.now() - requestedAgoMs);
  const ended = status === 'completed' || status === 'failed';
  await db.query(
    `insert into actions (id, action_type, parameters, status, connector_id, incident_id, requested_by, requested_at,
                          approval_level, result, rollback_of)
     values ($1, $2, $3, $4, $5, $6, 'alice', now() - $7 * interval '1 millisecond', $8, $9, $10)`,
    [
      id,
      fields.type ?? 'block_ip',
      JSON.stringify(PARAMETERS_OF_TABLE),
      status,
      ended ? connectorId : null,
      fields.incidentId,
      requestedAgoMs,
      status === 'pending_approval' ? 'analyst' : null,
      ended ? { success: status === 'completed', message: 'Ended.' } : null,
      fields.rollbackOf,
    ],
  );
  if (status !== 'pending') return id;
  const lane = work === 'accepted' ? 'ask' : 'action';
  await db.query(
    `insert into work (kind, ref, lane, urgency, ready, due_at, worker, state)
     values ('action', $1, $2, 2, $3, now() + $4 * interval '1 minute', $5, $6)`,
    [
      id,
      `${lane}.${connectorId}`,
      work === 'waits' || work === 'lapsed',
      work === 'claimed' || work === 'accepted' ? 1 : 0,
      work === 'claimed' || work === 'lapsed' ? newId() : null,
      fields.state,
    ],
  );
  return id;
}

export async function rowOf(db: DataSource, id: string): Promise<ActionRow> {
  const [row] = await db.query<ActionRow[]>(
    `select status, connector_id, result,
            (select json_build_object('lane', lane, 'ready', ready, 'worker', worker, 'state', state)
               from work where kind = 'action' and ref = actions.id) as work
       from actions where id = $1`,
    [id],
  );
  return row!;
}
