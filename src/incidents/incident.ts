import { Column, Entity, PrimaryColumn } from 'typeorm';
import { columnsOf } from '../platform/database/columns.js';
import type { Classification, VerdictDto } from './dto/verdict.dto.js';
import type { IncidentFields } from './incident-fields.js';

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export function severityRises(from: Severity, to: Severity): boolean {
  return SEVERITIES.indexOf(to) > SEVERITIES.indexOf(from);
}

export const INCIDENT_STATUSES = ['open', 'triaged', 'resolved'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** Handling of pending actions and runs when an incident is closed. */
export const PENDING_CHOICES = ['keep', 'withdraw'] as const;
export type PendingChoice = (typeof PENDING_CHOICES)[number];

/** Format of an incident type. Only known types are documented and have their own metrics labels. */
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

export {
  CLASSIFICATIONS,
  type Classification,
  type EvidenceDto as Evidence,
  type IndicatorDto as Indicator,
  type ProposedVerdictDto as MachineVerdict,
  type VerdictDto as Verdict,
} from './dto/verdict.dto.js';

export const SOURCE_STATUSES = ['open', 'resolved'] as const;
export type SourceStatus = (typeof SOURCE_STATUSES)[number];

@Entity('incidents')
export class IncidentEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'bigint', default: () => `nextval('incident_number')` })
  readonly number: string;

  /** `INC-<year of creation in UTC>-<number>`, generated. */
  @Column({ type: 'text', collation: 'C', insert: false, update: false })
  readonly incident_number: string;

  @Column({ type: 'text', collation: 'C' })
  readonly incident_type: string;

  @Column({
    type: 'enum',
    enum: SEVERITIES,
    enumName: 'incident_severity',
  })
  readonly severity: Severity;

  @Column({ type: 'enum', enum: ['open', 'resolved', 'triaged'], enumName: 'incident_status' })
  readonly status: IncidentStatus;

  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  /** At most LONGEST_TITLE characters: see incidentTitle, and titleLine for text of third parties. */
  @Column({ type: 'text' })
  readonly title: string;

  /** State of the alert in its tool; null until the tool reports the alert as closed. */
  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly source_status: SourceStatus | null;

  /** JSON text of an object. Statements select it as text, so that every digit stays unchanged. */
  @Column({ type: 'json' })
  readonly raw_data: string;

  /** Values of the event under well-known names. */
  @Column({ type: 'json' })
  readonly fields: IncidentFields;

  @Column({ type: 'json', nullable: true })
  readonly verdict: VerdictDto | null;

  /** Classification of the verdict, generated. */
  @Column({ type: 'text', collation: 'C', nullable: true, insert: false, update: false })
  readonly classification: Classification | null;

  @Column({ type: 'boolean', default: false })
  readonly verdict_by_person: boolean;

  @Column({ type: 'text', array: true, default: [] })
  readonly recommended_actions: readonly string[];

  @Column({ type: 'text', nullable: true })
  readonly resolution: string | null;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly updated_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly triaged_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly resolved_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly resolved_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}

export const LISTED_COLUMNS = [
  'id',
  'incident_number',
  'incident_type',
  'severity',
  'status',
  'source',
  'title',
  'created_at',
  'updated_at',
  'classification',
  'resolved_at',
  'resolved_by',
  'source_status',
] as const;
export type ListedIncident = Pick<IncidentEntity, (typeof LISTED_COLUMNS)[number]>;

/** Columns that are not read with an incident. Lists show the classification, and the timeline shows the creator. */
const HIDDEN_COLUMNS = ['number', 'created_by', 'deleted_at', 'classification'] as const;
export const INCIDENT_COLUMNS = columnsOf(IncidentEntity, HIDDEN_COLUMNS);
export type Incident = Pick<IncidentEntity, (typeof INCIDENT_COLUMNS)[number]>;

/** Columns written by an update. The other columns never change. */
export const CHANGEABLE_COLUMNS = columnsOf(IncidentEntity, [
  ...HIDDEN_COLUMNS,
  'id',
  'incident_number',
  'source',
  'raw_data',
  'created_at',
]);

export interface NewIncident extends Pick<
  IncidentEntity,
  'incident_type' | 'severity' | 'source' | 'title' | 'raw_data' | 'fields'
> {
  /** Set if the tool reports the alert as closed. */
  readonly source_status?: SourceStatus;
  /** Requests triage on creation, with the instructions of this playbook. */
  readonly triage?: { readonly playbook?: string };
}

export const CREATED_COLUMNS = ['id', 'incident_number', 'status', 'created_at'] as const;
export type CreatedIncident = Pick<IncidentEntity, (typeof CREATED_COLUMNS)[number]>;

/** Audit actions that the feed of changes returns. */
export const INCIDENT_FEED_EVENTS = [
  'incident.created',
  'incident.updated',
  'incident.deleted',
] as const;

/** Current state of an incident for a message. The state may be later than the event. */
export const STATE_COLUMNS = [
  'id',
  'incident_number',
  'status',
  'classification',
  'deleted_at',
] as const;
export type IncidentState = Pick<IncidentEntity, (typeof STATE_COLUMNS)[number]>;

/**
 * Fields of an incident that is locked against changes. Raw data may be large and is not read. Actions on a mail use the
 * sender, because another sender may have used the same Message-ID.
 */
export type LockedIncident = Pick<
  IncidentEntity,
  'id' | 'incident_number' | 'incident_type' | 'title' | 'severity' | 'status'
> & { readonly message_id: string | null; readonly sender: string | null };

export const LOCKED_COLUMNS = `id, incident_number, incident_type, title, severity, status,
  fields->>'message_id' as message_id, fields->>'sender' as sender`;

/** Format of an incident number in requests. */
export const INCIDENT_NUMBER = /^INC-\d{4}-\d{4,18}$/;

/** Returns the sequence of an incident number. The sequence is unique, because it does not restart each year. */
export function sequenceIn(number: string): string {
  return number.slice(number.lastIndexOf('-') + 1);
}
