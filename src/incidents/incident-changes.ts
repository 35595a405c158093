import type { IfMatchCondition } from '../platform/http/etag.js';
import { AlreadyResolvedError } from './incidents.errors.js';
import type { IncidentFields } from './incident-fields.js';
import type { Incident, IncidentStatus, MachineVerdict, Severity, Verdict } from './incident.js';

/** What is to change about an incident; a field that is left out stays as it is. */
export interface IncidentChange {
  readonly title?: string;
  readonly severity?: Severity;
  readonly status?: IncidentStatus;
  /** An empty one takes away what there is. */
  readonly resolution?: string;
  readonly incidentType?: string;
  readonly verdict?: GivenVerdict;
  readonly recommendedActions?: readonly string[];
  /** Fields that are added. What is known already stays. */
  readonly fields?: IncidentFields;
  /** Whoever leaves `resolved` has to say so. Without a status it becomes what it was before: triaged, or open. */
  readonly reopen?: boolean;
}

/** A verdict as it is given. Who decided is not part of it: that is whoever gives it. */
export type GivenVerdict = Omit<Verdict, 'decided_by' | 'proposed'>;

export interface ChangeOrigin {
  /** The name of the principal. */
  readonly by: string;
  readonly at: Date;
  /** A person triages by giving a verdict or by setting the status; an automatic run triages by giving a verdict. */
  readonly byPerson: boolean;
}

/** The incident as it is after the change. Any status may follow any other. */
export function applyChange(
  before: Incident,
  wanted: IncidentChange,
  { by, at, byPerson }: ChangeOrigin,
): Incident {
  // Opening an incident again judges nothing.
  const confirmed = wanted.status === 'triaged' && before.status !== 'resolved';
  const triaged = wanted.verdict !== undefined || confirmed;
  const decided = triaged ? decidedVerdict(before, wanted.verdict, byPerson) : undefined;
  const status = statusAfter(before, wanted, triaged);
  return {
    ...before,
    title: wanted.title ?? before.title,
    severity: wanted.severity ?? before.severity,
    incidentType: wanted.incidentType ?? before.incidentType,
    recommendedActions: wanted.recommendedActions ?? before.recommendedActions,
    fields: wanted.fields ? { ...wanted.fields, ...before.fields } : before.fields,
    status,
    ...resolutionAfter(before, wanted.resolution, status, { by, at }),
    triagedAt: triaged ? at : before.triagedAt,
    verdict: decided ? { ...decided, decided_by: by } : before.verdict,
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

/** A person who leaves `resolved` has said that it is meant. */
export function requireMeantReopening(
  before: Incident,
  wanted: IncidentChange,
  condition: IfMatchCondition,
): void {
  const leaves = wanted.status !== undefined && isReopened(before, { status: wanted.status });
  if (leaves && !wanted.reopen && condition === undefined) throw new AlreadyResolvedError(before);
}

/**
 * Who confirms the verdict there was, by setting the status, has decided it. Of a person's verdict, what she does not say stays
 * as the machine found it, and what the machine said stays beside hers.
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

function proposedBy({
  classification,
  confidence,
  category,
  reasoning,
  triage_id,
}: Verdict): MachineVerdict {
  return { classification, confidence, category, reasoning, triage_id };
}

/** Whatever takes an incident out of `resolved` takes with it how, when and by whom it was resolved. */
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
  return wasResolved(before, { status })
    ? { resolution, resolvedAt: at, resolvedBy: by }
    : { resolution, resolvedAt, resolvedBy };
}

type WithStatus = Pick<Incident, 'status'>;

export function wasTriaged(before: Incident, after: Incident): boolean {
  return after.triagedAt !== before.triagedAt;
}

export function wasResolved(before: WithStatus, after: WithStatus): boolean {
  return after.status === 'resolved' && before.status !== 'resolved';
}

export function isReopened(before: WithStatus, after: WithStatus): boolean {
  return before.status === 'resolved' && after.status !== 'resolved';
}

/**
 * Actions of a critical incident may need a higher approval level. So the audit trail and the timeline name a change by
 * which an incident stops being critical.
 */
export function isNoLongerCritical(
  before: Pick<Incident, 'severity'>,
  after: Pick<IncidentChange, 'severity'>,
): boolean {
  const { severity = before.severity } = after;
  return before.severity === 'critical' && severity !== 'critical';
}

/** The clocks of replicas differ; the time of the last change never goes back. */
function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
