import { In } from 'typeorm';
import type { Tx } from '../../platform/database/transactions.js';
import {
  type IfMatchCondition,
  isMatch,
  knownVersion,
  PreconditionFailedError,
  type Revision,
} from '../../platform/http/etag.js';
import { AuditLogEntity } from '../audit.entity.js';

/** Maximum entries to read. If the caller's version is older, the response has only the fields in these entries. */
const MOST_ENTRIES = 100;

interface VersionedResource {
  readonly type: 'incident' | 'playbook';
  readonly id: string;
  readonly version: number;
  readonly revision: Revision;
  readonly updatedAt: Date;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The error 412 names the last author and the changed fields. The caller must have locked the resource. */
export async function requireVersion(
  tx: Tx,
  condition: IfMatchCondition,
  { type, id: subject_id, version, revision, updatedAt, values }: VersionedResource,
): Promise<void> {
  if (isMatch(condition, revision)) return;
  const entries = await tx.getRepository(AuditLogEntity).find({
    select: { id: true, actor: true, details: true },
    where: { subject_type: type, subject_id, action: In([`${type}.created`, `${type}.updated`]) },
    order: { id: 'DESC' },
    take: MOST_ENTRIES,
  });
  const known = knownVersion(condition);
  const since = known !== undefined && known < version ? known : version - 1;
  const changed = new Set(
    entries
      .filter(({ details }) => Number(details['version']) > since)
      .flatMap(({ details: { changed: all, fields: names = all } }) =>
        Array.isArray(names) ? (names as unknown[]) : [],
      ),
  );
  const fields = Object.keys(values).filter((field) => changed.has(field));
  throw new PreconditionFailedError(revision, {
    changed_by: entries[0]?.actor,
    changed_at: updatedAt.toISOString(),
    fields,
    current: Object.fromEntries(fields.map((field) => [field, values[field]])),
  });
}
