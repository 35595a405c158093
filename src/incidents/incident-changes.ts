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

/** Absent fields and existing `fields` keep their values. An empty resolution is removed. New `fields` are added. */
export type IncidentChange = {
  readonly [Field in Exclude<ChangedField, 'verdict'>]?: NonNullable<Incident[Field]>;
} & {
  readonly verdict?: GivenVerdict;
  /** Later automatic verdict, kept in addition to the verdict of a person. */
  readonly proposed?: MachineVerdict;
  /** Required to leave `resolved`. Without a status, the incident becomes triaged or open. */
  readonly reopen?: boolean;
};

type GivenVerdict = Omit<Verdict, 'decided_by' | 'proposed'>;

export interface ChangeOrigin {
  readonly by: string;
  readonly at: Date;
  /** True for a person, who can triage with a verdict or a status. An automatic run can triage only with a verdict. */
  readonly byPerson: boolean;
}

/** Returns the incident after the change. Any status may follow any other status. */
export function applyChange(
  before: Incident,
  wanted: IncidentChange,
  origin: ChangeOrigin,
): Incident {
  const { at, byPerson } = origin;
  // A status change from resolved to triaged does not confirm the verdict.
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
    // The clocks of replicas differ, but `updated_at` must never decrease.
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

/** A caller without `reopen` or If-Match may not have seen the resolution, so its new status must not reopen. */
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

/** The status triaged confirms the verdict. Omitted evidence, indicators and techniques keep their values. */
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

/** A change from resolved removes the time and author of the resolution, and its text unless a new text is given. */
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

export function effectsOf(before: Incident, after: Incident) {
  return {
    isTriaged: after.triaged_at !== before.triaged_at,
    isReopened: leavesResolved(before, after.status),
    isResolved: leavesResolved(after, before.status),
    isNoLongerCritical: isNoLongerCritical(before, after),
  };
}

/** Audit trail and timeline record this, because actions of critical incidents may need a higher approval level. */
export function isNoLongerCritical(
  before: Pick<Incident, 'severity'>,
  { severity = before.severity }: Pick<IncidentChange, 'severity'>,
): boolean {
  return before.severity === 'critical' && severity !== 'critical';
}

/** Previous and current value of a field. `undefined` means that there is no value. */
export interface FieldChange {
  readonly field: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

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

/** Returns the value in its stored form: without undefined fields. The comparison ignores the order of keys. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
