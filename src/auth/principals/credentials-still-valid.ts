import { type Role, ROLES } from '../../platform/access/roles.js';
import type { Principal } from '../principal.js';
import { IDLE_HOURS } from '../sessions/session.js';

/** Not while its owner is disabled. Of who was deleted go on those keys that the deletion kept. */
export const KEY_IS_VALID = `k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  and not exists (select 1 from users o where o.id = k.owner_id and not o.enabled and o.deleted_at is null)`;
export const SESSION_IS_VALID = `s.expires_at > now() and s.last_seen_at > now() - interval '${IDLE_HOURS} hours'
  and u.enabled and u.deleted_at is null`;

const RANKED = `array[${ROLES.map((role) => `'${role}'`).join()}]`;

/** A key may do what it was made for, and no more than its owner may by now, or could at the end. */
export const EFFECTIVE_KEY_ROLE = `(${RANKED})[least(array_position(${RANKED}, k.role),
  (select array_position(${RANKED}, o.role) from users o where o.id = k.owner_id))]`;

/**
 * For a statement that writes for many callers at once: whether the credential of each still holds, and still has the
 * role. It says what Principal.begin says, for all of them or none; who it is tells `begin`, caller by caller.
 */
export function credentialsStillValid(firstParameter = 1): string {
  const [keys, sessions, roles] = [0, 1, 2].map((at) => `$${firstParameter + at}`);
  return `(
    (select count(*) from api_keys k
      where k.id = any (${keys}::uuid[]) and ${EFFECTIVE_KEY_ROLE} = any (${roles}::text[]) and ${KEY_IS_VALID}) = cardinality(${keys}::uuid[])
    and
    (select count(*) from sessions s join users u on u.id = s.user_id
      where s.id = any (${sessions}::uuid[]) and u.role = any (${roles}::text[]) and ${SESSION_IS_VALID}) = cardinality(${sessions}::uuid[]))`;
}

/** The values of those parameters. */
export function credentialsStillValidValues(
  callers: readonly Principal[],
  required: Role,
): unknown[] {
  const keys = new Set<string>();
  const sessions = new Set<string>();
  for (const { id, sessionId } of callers) {
    if (sessionId === undefined) keys.add(id);
    else sessions.add(sessionId);
  }
  return [[...keys], [...sessions], ROLES.slice(ROLES.indexOf(required))];
}
