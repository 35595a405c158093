import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../platform/errors/app-error.js';
import type { IfMatchCondition } from '../platform/http/etag.js';
import type { Incident, IncidentStatus, MachineVerdict, Verdict } from './incident.js';

/** Fields that a change may have, in the order of audit records and events. */
export const CHANGED_FIELDS = [
  'title',
  'severity',
  'status',
  'incident_type',
  'verdict',
  'recommended_actions',
  'resolution',
  'source_status',
  'fields',
] as const;
export type ChangedField = (typeof CHANGED_FIELDS)[number];

/** Enumerated fields. The other fields are free text, which the audit trail omits and the timeline quotes. */
export const CHOICE_FIELDS: ReadonlySet<string> = new Set<ChangedField>([
  'severity',
  'status',
  'incident_type',
  'recommended_actions',
  'source_status',
]);

/**
 * Requested changes. An absent field keeps its value. An empty resolution is removed. New `fields` are added, and existing
 * fields keep their values.
 */
export type IncidentChange = {
  readonly [Field in Exclude<ChangedField, 'verdict'>]?: NonNullable<Incident[Field]>;
} & {
  readonly verdict?: GivenVerdict;
  /** Later automatic verdict, kept in addition to the verdict of a person. */
  readonly proposed?: MachineVerdict;
  /** Required to leave `resolved`. Without a status, the incident becomes triaged or open. */
  readonly reopen?: boolean;
};

/** Verdict without its author, because the caller is the author. */
type GivenVerdict = Omit<Verdict, 'decided_by' | 'proposed'>;

export interface ChangeOrigin {
  readonly by: string;
  readonly at: Date;
  /** A person triages by a verdict or a status. An automatic run triages by a verdict. */
  readonly byPerson: boolean;
}

/** Returns the incident after the change. Any status may follow any other status. */
export function applyChange(
  before: Incident,
  wanted: IncidentChange,
  origin: ChangeOrigin,
): Incident {
  const { at, byPerson } = origin;
  // Reopening does not confirm the verdict.
  const confirmed = wanted.status === 'triaged' && before.status !== 'resolved';
  const isTriaged = wanted.verdict !== undefined || confirmed;
  const verdict = verdictAfter(before, wanted, isTriaged, origin);
  const status = statusAfter(before, wanted, isTriaged);
  const given = CHANGED_FIELDS.filter((field) => wanted[field] !== undefined);
  return {
    ...before,
    ...Object.fromEntries(given.map((field) => [field, wanted[field]])),
    fields: { ...wanted.fields, ...before.fields },
    status,
    ...resolutionAfter(before, wanted.resolution, status, origin),
    triaged_at: isTriaged ? at : before.triaged_at,
    verdict,
    verdict_by_person: isTriaged && verdict ? byPerson : before.verdict_by_person,
    version: before.version + 1,
    // The clocks of replicas differ, but the time of the last change never decreases.
    updated_at: before.updated_at > at ? before.updated_at : at,
  };
}

function statusAfter(
  before: Incident,
  { status, reopen }: IncidentChange,
  isTriaged: boolean,
): IncidentStatus {
  if (status) return status;
  if (reopen && before.status === 'resolved') return before.triaged_at ? 'triaged' : 'open';
  return isTriaged && before.status === 'open' ? 'triaged' : before.status;
}

/** Throws if a status leaves `resolved` without `reopen` or If-Match, because the caller may not have seen the resolution. */
export function requireExplicitReopening(
  before: Incident,
  wanted: IncidentChange,
  condition: IfMatchCondition,
): void {
  const { status = before.status, reopen } = wanted;
  if (!leavesResolved(before, status) || reopen || condition !== undefined) return;
  const by = before.resolved_by ?? undefined;
  const at = before.resolved_at?.toISOString();
  throw new AppError(
    'already_resolved',
    `The incident was resolved${by ? ` by ${by}` : ''}${at ? ` at ${at}` : ''}. Send reopen: true, or If-Match with its ETag, to open it again.`,
    { details: { resolved_by: by, resolved_at: at, resolution: before.resolution ?? undefined } },
  );
}

/**
 * A person who sets the status to triaged confirms the current verdict. If a person gives a verdict without evidence,
 * indicators or techniques, the earlier values stay. The verdict of the run stays as `proposed`.
 */
function verdictAfter(
  { verdict, verdict_by_person }: Incident,
  { verdict: given, proposed }: IncidentChange,
  isTriaged: boolean,
  { by, byPerson }: ChangeOrigin,
): Verdict | null {
  if (!isTriaged)
    return verdict && verdict_by_person && proposed ? { ...verdict, proposed } : verdict;
  const decided = given ?? verdict;
  if (!decided || !verdict || !byPerson) return decided && { ...decided, decided_by: by };
  const { classification, confidence, category, reasoning, triage_id } = verdict;
  const said = { classification, confidence, category, reasoning, triage_id };
  return {
    ...decided,
    evidence: decided.evidence ?? verdict.evidence,
    indicators: decided.indicators ?? verdict.indicators,
    mitre_techniques: decided.mitre_techniques ?? verdict.mitre_techniques,
    decided_by: by,
    proposed: verdict_by_person ? verdict.proposed : said,
  };
}

/** Leaving `resolved` removes resolution, time and author. */
function resolutionAfter(
  before: Incident,
  given: string | undefined,
  status: IncidentStatus,
  { by, at }: ChangeOrigin,
): Pick<Incident, 'resolution' | 'resolved_at' | 'resolved_by'> {
  const { resolved_at, resolved_by } = before;
  if (leavesResolved(before, status)) {
    return { resolution: given || null, resolved_at: null, resolved_by: null };
  }
  const resolution = (given ?? before.resolution) || null;
  // A new resolution must not appear under the name of the person who resolved the incident earlier.
  const isReplaced = resolved_by !== by && given && given !== before.resolution;
  return status === 'resolved' && (isReplaced || before.status !== 'resolved')
    ? { resolution, resolved_at: at, resolved_by: by }
    : { resolution, resolved_at, resolved_by };
}

function leavesResolved(before: Incident, status: IncidentStatus): boolean {
  return before.status === 'resolved' && status !== 'resolved';
}

/** Effects of a change that its records name. */
export function effectsOf(before: Incident, after: Incident) {
  return {
    isTriaged: after.triaged_at !== before.triaged_at,
    isReopened: leavesResolved(before, after.status),
    isResolved: leavesResolved(after, before.status),
    isNoLongerCritical: isNoLongerCritical(before, after),
  };
}

/**
 * True if the incident is no longer critical. Audit trail and timeline record this, because actions of critical incidents may
 * need a higher approval level.
 */
export function isNoLongerCritical(
  before: Pick<Incident, 'severity'>,
  { severity = before.severity }: Pick<IncidentChange, 'severity'>,
): boolean {
  return before.severity === 'critical' && severity !== 'critical';
}

/** Previous and current value of a field; `undefined` stands for no value. */
export interface FieldChange {
  readonly field: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Returns the fields that differ, in the order of `fields`. */
export function changesBetween(
  before: Incident,
  after: Incident,
  fields: readonly (keyof Incident)[],
): FieldChange[] {
  return fields
    .map((field) => ({
      field,
      from: before[field] ?? undefined,
      to: after[field] ?? undefined,
    }))
    .filter(({ from, to }) => !isDeepStrictEqual(stored(from), stored(to)));
}

/** Normalizes a value to its stored form: a given verdict has undefined fields, and keys in any order. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
