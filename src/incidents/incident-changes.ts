import { AppError } from '../platform/errors/app-error.js';
import type {
  Incident,
  IncidentStatus,
  MachineVerdict,
  Severity,
  SourceStatus,
  Verdict,
} from './incident.js';
import type { IfMatchCondition } from '../platform/http/etag.js';
import type { IncidentFields } from './incident-fields.js';

/** A colleague has resolved the incident in the meantime, which the caller may not know. */
class AlreadyResolvedError extends AppError {
  constructor({ resolvedBy, resolvedAt, resolution }: Incident) {
    const by = resolvedBy === undefined ? '' : ` by ${resolvedBy}`;
    const at = resolvedAt === undefined ? '' : ` at ${resolvedAt.toISOString()}`;
    super(
      'already_resolved',
      `The incident was resolved${by}${at}. Send reopen: true, or If-Match with its ETag, to open it again.`,
      {
        details: {
          resolved_by: resolvedBy,
          resolved_at: resolvedAt?.toISOString(),
          resolution,
        },
      },
    );
  }
}

/** Requested changes. An absent field keeps its value. */
export interface IncidentChange {
  readonly title?: string;
  readonly severity?: Severity;
  readonly status?: IncidentStatus;
  /** An empty text removes the resolution. */
  readonly resolution?: string;
  readonly incidentType?: string;
  readonly verdict?: GivenVerdict;
  /** A later verdict of a machine, beside that of a person, which stays. */
  readonly proposed?: MachineVerdict;
  readonly recommendedActions?: readonly string[];
  readonly sourceStatus?: SourceStatus;
  /** Added fields. Existing fields keep their values. */
  readonly fields?: IncidentFields;
  /** Required to leave `resolved`. Without a status the incident becomes triaged or open again. */
  readonly reopen?: boolean;
}

/** Verdict without its author: the caller is the author. */
export type GivenVerdict = Omit<Verdict, 'decided_by' | 'proposed'>;

export interface ChangeOrigin {
  /** Name of the principal. */
  readonly by: string;
  readonly at: Date;
  /** A person triages by a verdict or by the status; an automatic run by a verdict. */
  readonly byPerson: boolean;
}

/** Returns the incident after the change. Any status may follow any other. */
export function applyChange(
  before: Incident,
  wanted: IncidentChange,
  { by, at, byPerson }: ChangeOrigin,
): Incident {
  // Reopening is not a verdict.
  const confirmed = wanted.status === 'triaged' && before.status !== 'resolved';
  const triaged = wanted.verdict !== undefined || confirmed;
  const decided = triaged ? decidedVerdict(before, wanted.verdict, byPerson) : undefined;
  const status = statusAfter(before, wanted, triaged);
  return {
    ...before,
    title: wanted.title ?? before.title,
    severity: wanted.severity ?? before.severity,
    incidentType: wanted.incidentType ?? before.incidentType,
    sourceStatus: wanted.sourceStatus ?? before.sourceStatus,
    recommendedActions: wanted.recommendedActions ?? before.recommendedActions,
    fields: wanted.fields ? { ...wanted.fields, ...before.fields } : before.fields,
    status,
    ...resolutionAfter(before, wanted.resolution, status, { by, at }),
    triagedAt: triaged ? at : before.triagedAt,
    verdict: decided ? { ...decided, decided_by: by } : withProposed(before, wanted.proposed),
    verdictByPerson: decided ? byPerson : before.verdictByPerson,
    version: before.version + 1,
    updatedAt: later(before.updatedAt, at),
  };
}

function statusAfter(
  before: Incident,
  { status, reopen }: IncidentChange,
  triaged: boolean,
): IncidentStatus {
  if (status) return status;
  if (reopen && before.status === 'resolved') return before.triagedAt ? 'triaged' : 'open';
  return triaged && before.status === 'open' ? 'triaged' : before.status;
}

/** Throws if a status leaves `resolved` without `reopen` or If-Match. */
export function requireMeantReopening(
  before: Incident,
  wanted: IncidentChange,
  condition: IfMatchCondition,
): void {
  const leaves = wanted.status !== undefined && isReopened(before, { status: wanted.status });
  if (leaves && !wanted.reopen && condition === undefined) throw new AlreadyResolvedError(before);
}

/**
 * A person who sets the status to triaged confirms the current verdict. A verdict of a person keeps the evidence,
 * indicators and techniques that it does not give, and keeps the verdict of the run as `proposed`.
 */
function decidedVerdict(
  { verdict, verdictByPerson }: Incident,
  given: GivenVerdict | undefined,
  byPerson: boolean,
): Omit<Verdict, 'decided_by'> | undefined {
  if (!verdict || !byPerson) return given ?? verdict;
  const { evidence, indicators, mitre_techniques } = verdict;
  const proposed = verdictByPerson ? verdict.proposed : proposedBy(verdict);
  if (!given) return { ...verdict, proposed };
  return {
    ...given,
    evidence: given.evidence ?? evidence,
    indicators: given.indicators ?? indicators,
    mitre_techniques: given.mitre_techniques ?? mitre_techniques,
    proposed,
  };
}

function withProposed(
  { verdict, verdictByPerson }: Incident,
  proposed: MachineVerdict | undefined,
): Verdict | undefined {
  return verdict && verdictByPerson && proposed ? { ...verdict, proposed } : verdict;
}

function proposedBy({
  classification,
  confidence,
  category,
  reasoning,
  triage_id,
}: Verdict): MachineVerdict {
  return { classification, confidence, category, reasoning, triage_id };
}

/** Leaving `resolved` removes resolution, time and author. */
function resolutionAfter(
  before: Incident,
  given: string | undefined,
  status: IncidentStatus,
  { by, at }: Pick<ChangeOrigin, 'by' | 'at'>,
): Pick<Incident, 'resolution' | 'resolvedAt' | 'resolvedBy'> {
  const { resolvedAt, resolvedBy } = before;
  if (isReopened(before, { status })) {
    return { resolution: given || undefined, resolvedAt: undefined, resolvedBy: undefined };
  }
  const resolution = (given ?? before.resolution) || undefined;
  return wasResolved(before, { status }) || isResolvedAnew(before, given, by)
    ? { resolution, resolvedAt: at, resolvedBy: by }
    : { resolution, resolvedAt, resolvedBy };
}

/** A resolution by another person must not appear under the name of the colleague who resolved the incident. */
function isResolvedAnew(before: Incident, given: string | undefined, by: string): boolean {
  const isOther = before.status === 'resolved' && before.resolvedBy !== by;
  return isOther && Boolean(given) && given !== before.resolution;
}

type WithStatus = Pick<Incident, 'status'>;

export function wasTriaged(before: Incident, after: Incident): boolean {
  return after.triagedAt !== before.triagedAt;
}

export function wasResolved(before: WithStatus, after: WithStatus): boolean {
  return after.status === 'resolved' && before.status !== 'resolved';
}

/** Whether another person has replaced the resolution of a resolved incident. */
export function wasResolvedAnew(before: Incident, after: Incident): boolean {
  return (
    before.status === 'resolved' &&
    after.resolvedAt !== before.resolvedAt &&
    after.status === 'resolved'
  );
}

export function isReopened(before: WithStatus, after: WithStatus): boolean {
  return before.status === 'resolved' && after.status !== 'resolved';
}

/**
 * Whether the incident is no longer critical. Actions of critical incidents may need a higher approval level, so audit
 * trail and timeline record it.
 */
export function isNoLongerCritical(
  before: Pick<Incident, 'severity'>,
  after: Pick<IncidentChange, 'severity'>,
): boolean {
  const { severity = before.severity } = after;
  return before.severity === 'critical' && severity !== 'critical';
}

/** The clocks of replicas differ, but the time of the last change never decreases. */
function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
