// SQL: these conditions are part of the statements that authenticate each request and that create incidents.
import { highestRole, lowerRoleSql, roleReachesSql } from '../../platform/access/roles.js';
import type { Principal } from '../principal.js';
import { IDLE_HOURS } from '../sessions/session.entity.js';

/** A key is invalid while its owner is disabled. A key that was kept when its owner was deleted is valid. */
export const KEY_IS_VALID = `k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
  and not exists (select 1 from users o where o.id = k.owner_id and not o.enabled and o.deleted_at is null)`;
export const SESSION_IS_VALID = `s.expires_at > now() and s.last_seen_at > now() - interval '${IDLE_HOURS} hours'
  and u.enabled and u.deleted_at is null`;

/** The lower of the roles of the key and its owner. For a deleted owner, the last role counts. */
export const EFFECTIVE_KEY_ROLE = lowerRoleSql(
  'k.role',
  '(select o.role from users o where o.id = k.owner_id)',
);

/**
 * Condition for a statement that writes for several callers: the credentials of all of them are valid and give the
 * required role. `Principal.begin` checks one caller; after `false`, call it for each caller to find the invalid one.
 */
export function credentialsStillValid(firstParameter = 1): string {
  const [keys, sessions, role] = [0, 1, 2].map((at) => `$${firstParameter + at}`);
  const required = `${role}::text`;
  return `(
    (select count(*) from api_keys k
      where k.id = any (${keys}::uuid[]) and ${roleReachesSql(EFFECTIVE_KEY_ROLE, required)} and ${KEY_IS_VALID}) = cardinality(${keys}::uuid[])
    and
    (select count(*) from sessions s join users u on u.id = s.user_id
      where s.id = any (${sessions}::uuid[]) and ${roleReachesSql('u.role', required)} and ${SESSION_IS_VALID}) = cardinality(${sessions}::uuid[]))`;
}

/** Values of the parameters of `credentialsStillValid`. */
export function credentialsStillValidValues(callers: readonly Principal[]): unknown[] {
  const keys = new Set<string>();
  const sessions = new Set<string>();
  for (const { id, sessionId } of callers) {
    if (sessionId === undefined) keys.add(id);
    else sessions.add(sessionId);
  }
  const required = highestRole(callers.map(({ requiredRole }) => requiredRole));
  return [[...keys], [...sessions], required];
}
