import type { IncidentFields } from './incident-fields.js';

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export function severityRises(from: Severity, to: Severity): boolean {
  return SEVERITIES.indexOf(to) > SEVERITIES.indexOf(from);
}

export const INCIDENT_STATUSES = ['open', 'triaged', 'resolved'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** Any word of this shape may be a type. The known ones are documented, and each has a label of its own in the metrics. */
export const INCIDENT_TYPE = /^[a-z][a-z0-9_]{0,63}$/;
export const KNOWN_INCIDENT_TYPES = [
  'phishing',
  'spam',
  'bec',
  'malware',
  'ransomware',
  'suspicious_login',
  'account_takeover',
  'brute_force',
  'intrusion',
  'data_exfiltration',
  'policy_violation',
  'other',
] as const;

export const CLASSIFICATIONS = ['malicious', 'suspicious', 'benign', 'inconclusive'] as const;
export type Classification = (typeof CLASSIFICATIONS)[number];

export interface Indicator {
  readonly type: string;
  readonly value: string;
  /** Where it was found, such as the JSON pointer of a field. */
  readonly found_in?: string;
}

/** A value on which a verdict rests: `pointer` leads to it from the root of `source`. */
export interface Evidence {
  /** `raw_data`, `fields`, or the id of a tool call. */
  readonly source: string;
  readonly pointer: string;
  readonly value: string | number | boolean;
}

export interface Verdict {
  readonly classification: Classification;
  readonly confidence?: number;
  readonly category?: string;
  readonly reasoning?: string;
  readonly indicators?: readonly Indicator[];
  readonly mitre_techniques?: readonly string[];
  readonly evidence?: readonly Evidence[];
  readonly decided_by: string;
  readonly model?: string;
  /** The run of an automatic verdict. */
  readonly triage_id?: string;
  /** Of a person's verdict: what the last run before it said. */
  readonly proposed?: MachineVerdict;
}

/** What a machine said and a person decided on. */
export type MachineVerdict = Pick<
  Verdict,
  'classification' | 'confidence' | 'category' | 'reasoning' | 'triage_id'
>;

export interface NewIncident {
  readonly incidentType: string;
  readonly severity: Severity;
  readonly source: string;
  /** Of at most LONGEST_TITLE characters: see incidentTitle, and titleLine for the words of somebody else. */
  readonly title: string;
  /** JSON of an object; stored and answered as it came, digit by digit. */
  readonly rawData: string;
  readonly fields: IncidentFields;
  /** It is to be triaged as soon as it is there, with the instructions of the playbook. */
  readonly triage?: { readonly playbook?: string };
}

export interface CreatedIncident {
  readonly id: string;
  readonly incidentNumber: string;
  readonly status: IncidentStatus;
  readonly createdAt: Date;
}

/** What actions and notifications say about an incident. */
export interface IncidentSummary {
  readonly id: string;
  readonly incidentNumber: string;
  readonly incidentType: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  readonly source: string;
  readonly title: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** While it is resolved; unknown where an older release resolved it and left no trace of that. */
interface Resolved {
  readonly resolvedAt?: Date;
  readonly resolvedBy?: string;
}

/** What lists show of an incident. */
export interface ListedIncident extends IncidentSummary, Resolved {
  /** Of its verdict, once there is one. */
  readonly classification?: Classification;
}

export interface Incident extends IncidentSummary, Resolved {
  readonly rawData: string;
  /** What the event says in well-known words. */
  readonly fields: IncidentFields;
  readonly verdict?: Verdict;
  /** A person gave or confirmed the verdict, so that an automatic run does not replace it. */
  readonly verdictByPerson: boolean;
  readonly recommendedActions: readonly string[];
  readonly resolution?: string;
  readonly triagedAt?: Date;
  readonly version: number;
}

/** What is read of an incident that is locked so that nobody changes it. Without its raw data, which may be large. */
export type LockedIncident = Pick<
  IncidentSummary,
  'id' | 'incidentNumber' | 'incidentType' | 'title' | 'severity' | 'status'
>;

const LEAST_DIGITS = 4;

/** `INC-<year of creation in UTC>-<sequence>`. The sequence goes on over the years, so that it alone is unique. */
export function incidentNumber(sequence: string, createdAt: Date): string {
  return `INC-${createdAt.getUTCFullYear()}-${sequence.padStart(LEAST_DIGITS, '0')}`;
}
