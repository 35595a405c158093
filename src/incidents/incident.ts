export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const INCIDENT_STATUSES = ['open', 'triaged', 'resolved'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** An open set: any word of this shape may come. The known ones are documented and have a metric label of their own. */
export const INCIDENT_TYPE = /^[a-z][a-z0-9_]{0,63}$/;
export const KNOWN_INCIDENT_TYPES = [
  'phishing',
  'spam',
  'bec',
  'malware',
  'ransomware',
  'suspicious_login',
  'account_takeover',
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

/** What a verdict rests on: `pointer` leads from the root of `source` to exactly this value. */
export interface Evidence {
  /** `raw_data`, or the id of a tool call. */
  readonly source: string;
  readonly pointer: string;
  readonly value: unknown;
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
}

export interface NewIncident {
  readonly incidentType: string;
  readonly severity: Severity;
  readonly source: string;
  /** JSON of an object; kept and answered as it is, digit by digit. */
  readonly rawData: string;
}

export interface CreatedIncident {
  readonly id: string;
  readonly incidentNumber: string;
  readonly status: IncidentStatus;
  readonly createdAt: Date;
}

/** What lists show, and what actions and notifications say about their incident. */
export interface IncidentSummary {
  readonly id: string;
  readonly incidentNumber: string;
  readonly incidentType: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  readonly source: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Incident extends IncidentSummary {
  readonly rawData: string;
  readonly verdict?: Verdict;
  /** A person gave or confirmed the verdict: an automatic run leaves it alone. */
  readonly verdictByPerson: boolean;
  readonly recommendedActions: readonly string[];
  readonly resolution?: string;
  readonly triagedAt?: Date;
  readonly version: number;
}

/** What whoever keeps an incident as it is has to know of it: it may be as large as its raw data. */
export type LockedIncident = Pick<Incident, 'id' | 'severity' | 'status'>;
