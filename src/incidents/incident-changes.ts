import type { Incident, IncidentStatus, Severity, Verdict } from './incident.js';

/** What may be changed about an incident; what is left out stays. */
export interface IncidentChange {
  readonly severity?: Severity;
  readonly status?: IncidentStatus;
  readonly resolution?: string;
  readonly incidentType?: string;
  readonly verdict?: GivenVerdict;
  readonly recommendedActions?: readonly string[];
}

/** A verdict as its author states it; who decided is not the author's to say. */
export type GivenVerdict = Omit<Verdict, 'decided_by'>;

export interface Change {
  readonly by: string;
  readonly at: Date;
  /** A person triages by giving a verdict or by setting the status; an automatic run gives a verdict. */
  readonly byPerson: boolean;
}

/** The incident after the change. Any status may follow any other. */
export function changed(before: Incident, wanted: IncidentChange, change: Change): Incident {
  const { verdict, ...rest } = definedOnly(wanted);
  const triaged = verdict !== undefined || wanted.status === 'triaged';
  return {
    ...before,
    ...rest,
    status: wanted.status ?? (triaged && before.status === 'open' ? 'triaged' : before.status),
    ...(triaged && triage(before, verdict, change)),
    version: before.version + 1,
    updatedAt: later(before.updatedAt, change.at),
  };
}

/** Who confirms a verdict by setting the status takes it as their own. */
function triage(
  before: Incident,
  given: GivenVerdict | undefined,
  { by, at, byPerson }: Change,
): Partial<Incident> {
  const verdict = given ?? before.verdict;
  return {
    triagedAt: at,
    ...(verdict && { verdict: { ...verdict, decided_by: by }, verdictByPerson: byPerson }),
  };
}

/** The actions of a critical incident may need a higher level, so that lowering it is told by its own name. */
export function isNoLongerCritical(
  before: Pick<Incident, 'severity'>,
  after: Pick<IncidentChange, 'severity'>,
): boolean {
  const { severity = before.severity } = after;
  return before.severity === 'critical' && severity !== 'critical';
}

/** Clocks of replicas differ; the time of a change never goes back. */
function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function definedOnly<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
