import type { Incident, IncidentStatus, Severity, Verdict } from './incident.js';

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
}

/** A verdict as it is given. Who decided is not part of it: that is whoever gives it. */
export type GivenVerdict = Omit<Verdict, 'decided_by'>;

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
  const triaged = wanted.verdict !== undefined || wanted.status === 'triaged';
  // Who confirms the verdict there was, by setting the status, has decided it.
  const decided = triaged ? (wanted.verdict ?? before.verdict) : undefined;
  const status = wanted.status ?? (triaged && before.status === 'open' ? 'triaged' : before.status);
  return {
    ...before,
    title: wanted.title ?? before.title,
    severity: wanted.severity ?? before.severity,
    incidentType: wanted.incidentType ?? before.incidentType,
    recommendedActions: wanted.recommendedActions ?? before.recommendedActions,
    status,
    ...resolutionAfter(before, wanted.resolution, status, { by, at }),
    triagedAt: triaged ? at : before.triagedAt,
    verdict: decided ? { ...decided, decided_by: by } : before.verdict,
    verdictByPerson: decided ? byPerson : before.verdictByPerson,
    version: before.version + 1,
    updatedAt: later(before.updatedAt, at),
  };
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
