import { Column, Entity, PrimaryColumn } from 'typeorm';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import { columnsOf } from '../platform/database/columns.js';
import {
  Choice,
  Id,
  Instant,
  JsonObject,
  Nested,
  OpenChoices,
  Text,
  TextMap,
} from '../platform/validation/fields.js';
import { type Classification, CLASSIFICATIONS, VerdictDto } from './dto/verdict.dto.js';
import { INCIDENT_FIELDS, type IncidentFields } from './incident-fields.js';
import { MOST_RAW_DATA_BYTES, MOST_RAW_DATA_LEVELS, PHISHING_KEYS } from './raw-data-rules.js';

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export function severityRises(from: Severity, to: Severity): boolean {
  return SEVERITIES.indexOf(to) > SEVERITIES.indexOf(from);
}

export const INCIDENT_STATUSES = ['open', 'triaged', 'resolved'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

export const PENDING_CHOICES = ['keep', 'withdraw'] as const;
export type PendingChoice = (typeof PENDING_CHOICES)[number];

/** The list of incident types is open, but only known types are documented and have their own metrics labels. */
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

export { CLASSIFICATIONS, type Classification };
export {
  EvidenceDto as Evidence,
  IndicatorDto as Indicator,
  type ProposedVerdictDto as MachineVerdict,
  type VerdictDto as Verdict,
} from './dto/verdict.dto.js';

export const SOURCE_STATUSES = ['open', 'resolved'] as const;
export type SourceStatus = (typeof SOURCE_STATUSES)[number];

export const DESCRIPTIONS = {
  incident_type: `An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`,
  raw_data: `The event as its source tells it: any JSON object of at most ${
    MOST_RAW_DATA_BYTES / 1024
  } KiB and ${MOST_RAW_DATA_LEVELS} levels. For \`phishing\` the keys ${PHISHING_KEYS.map(
    (key) => `\`${key}\``,
  ).join(', ')} are strings when they are there, \`received_at\` an ISO 8601 time.`,
  fields: `Values of the event under the same names for every tool, each as one text. Playbooks, titles and triage read them. Well-known: ${Object.entries(
    INCIDENT_FIELDS,
  )
    .map(([name, meaning]) => `\`${name}\` (${meaning})`)
    .join(
      ', ',
    )}. The mapping of a webhook source may add further names. For an incident that is created by the API, \`fields\` has the well-known keys of its \`raw_data\`.`,
};

@Entity('incidents')
export class IncidentEntity {
  @Id('IncidentId')
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'bigint', default: () => `nextval('incident_number')` })
  readonly number: string;

  /** Generated: `INC-<year of creation in UTC>-<number>`. */
  @Text({ pattern: /^INC-\d{4}-\d{4,}$/ })
  @Column({ type: 'text', collation: 'C', insert: false, update: false })
  readonly incident_number: string;

  @Text({ description: DESCRIPTIONS.incident_type })
  @Column({ type: 'text', collation: 'C' })
  readonly incident_type: string;

  @Choice('Severity', SEVERITIES)
  @Column({ type: 'enum', enum: SEVERITIES, enumName: 'incident_severity' })
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES)
  @Column({ type: 'enum', enum: ['open', 'resolved', 'triaged'], enumName: 'incident_status' })
  readonly status: IncidentStatus;

  @Text()
  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  /** At most LONGEST_TITLE characters: see incidentTitle, and titleLine for text of third parties. */
  @Text({
    description:
      'One line that identifies the incident, given or derived from the type and raw_data.',
  })
  @Column({ type: 'text' })
  readonly title: string;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Instant()
  @Column({ type: 'timestamptz', precision: 3 })
  readonly updated_at: Date;

  /** Generated from the verdict. */
  @Choice('Classification', CLASSIFICATIONS, { optional: true })
  @Column({ type: 'text', collation: 'C', nullable: true, insert: false, update: false })
  readonly classification: Classification | null;

  /** JSON text of an object. Statements select this column as text, so that numbers keep all digits. */
  @JsonObject({ description: DESCRIPTIONS.raw_data })
  @Column({ type: 'json' })
  readonly raw_data: string;

  @TextMap({ description: DESCRIPTIONS.fields })
  @Column({ type: 'json' })
  readonly fields: IncidentFields;

  @Nested(() => VerdictDto, { optional: true, description: 'Present after triage.' })
  @Column({ type: 'json', nullable: true })
  readonly verdict: VerdictDto | null;

  @Column({ type: 'boolean', default: false })
  readonly verdict_by_person: boolean;

  @OpenChoices('ActionTypeName', ACTION_TYPES)
  @Column({ type: 'text', array: true, default: [] })
  readonly recommended_actions: readonly string[];

  @Text({
    optional: true,
    description: 'Removed when the status leaves `resolved`. The timeline keeps it.',
  })
  @Column({ type: 'text', nullable: true })
  readonly resolution: string | null;

  @Instant({ optional: true, description: 'Time of the last triage.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly triaged_at: Date | null;

  @Choice('SourceStatus', SOURCE_STATUSES, {
    optional: true,
    description:
      'State of the alert in its tool: `resolved` after the tool reported the end of the alert, `open` if it reported the alert again. The status of the incident does not follow it.',
  })
  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly source_status: SourceStatus | null;

  @Instant({
    optional: true,
    description: 'Time of the resolution; absent unless the incident is resolved.',
  })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly resolved_at: Date | null;

  @Text({
    optional: true,
    description: 'Principal who resolved it; absent unless the incident is resolved.',
  })
  @Column({ type: 'text', nullable: true })
  readonly resolved_by: string | null;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  @Column({ type: 'text' })
  readonly created_by: string;

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

/** Columns that a normal read of an incident omits. Lists show the classification, and the timeline the creator. */
export const HIDDEN_COLUMNS = ['number', 'created_by', 'deleted_at', 'classification'] as const;
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
  /** Requests triage when the incident is created, with the instructions of `playbook`. */
  readonly triage?: { readonly playbook?: string };
}

export const CREATED_COLUMNS = ['id', 'incident_number', 'status', 'created_at'] as const;
export type CreatedIncident = Pick<IncidentEntity, (typeof CREATED_COLUMNS)[number]>;

export const INCIDENT_FEED_EVENTS = [
  'incident.created',
  'incident.updated',
  'incident.deleted',
] as const;

/** Columns for the current state of an incident in a message. The state may be newer than the event of the message. */
export const STATE_COLUMNS = [
  'id',
  'incident_number',
  'status',
  'classification',
  'deleted_at',
] as const;
export type IncidentState = Pick<IncidentEntity, (typeof STATE_COLUMNS)[number]>;

/** Fields of a locked incident. Omits raw data, which may be large. Actions on the mail need its id and sender. */
export type LockedIncident = Pick<
  IncidentEntity,
  'id' | 'incident_number' | 'incident_type' | 'title' | 'severity' | 'status'
> & { readonly message_id: string | null; readonly sender: string | null };

export const LOCKED_COLUMNS = `id, incident_number, incident_type, title, severity, status,
  fields->>'message_id' as message_id, fields->>'sender' as sender`;

export const INCIDENT_NUMBER = /^INC-\d{4}-\d{4,18}$/;

/** Returns the sequence of an incident number. The sequence is unique, because it does not restart each year. */
export function sequenceIn(number: string): string {
  return number.slice(number.lastIndexOf('-') + 1);
}
