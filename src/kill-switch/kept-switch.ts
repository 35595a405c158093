import type { Tx } from '../platform/database/transactions.js';

/** Who stopped the automation, and why. */
export interface ActiveSwitch {
  readonly reason: string;
  readonly activated_by: string;
  readonly activated_at: string;
}

/** The switch of the present database, if it is on. The database may be empty, or of an earlier release. */
export async function activeSwitch(tx: Tx): Promise<ActiveSwitch | undefined> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('kill_switch') is not null as there`,
  );
  if (!table?.there) return undefined;
  const [active] = await tx.query<ActiveSwitch[]>(
    `select reason, activated_by, activated_at::text as activated_at from kill_switch where active`,
  );
  return active;
}

/** Other content has come: what somebody had stopped stays stopped, for the reason that was given. */
export async function keepSwitchOn(tx: Tx, active: ActiveSwitch): Promise<void> {
  await tx.query(
    `update kill_switch set active = true, reason = $1, activated_by = $2, activated_at = $3,
        deactivated_by = null, deactivated_at = null, deactivation_reason = null`,
    [active.reason, active.activated_by, active.activated_at],
  );
}
