import { Column, Entity, PrimaryColumn } from 'typeorm';
import { SEVERITIES, type Severity } from '../../incidents/incident.js';

export const SOURCE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const SIGNATURE_SCHEMES = ['timestamped', 'body', 'standard', 'token', 'basic'] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** `auto` detects the format of each event. `mapping` uses the mapping of the source. */
export const EVENT_FORMATS = [
  'auto',
  'generic',
  'email_alert',
  'endpoint_alert',
  'log_alert',
  'ocsf',
  'mapping',
] as const;
export type EventFormatName = (typeof EVENT_FORMATS)[number];

/** Maps a word of the sender, or a range of numbers such as `0-39`, to a severity. */
export type SeverityMapping = Readonly<Record<string, Severity>>;

/** Maps a word of the sender, or a part of a word, to an incident type. */
export type TypeMapping = Readonly<Record<string, string>>;

/**
 * A JSON pointer (RFC 6901), or several. The first pointer wins that leads to text that is not blank, a number, or a list that begins
 * with such a value. A pointer starts at the event, or with a leading `^` at the body that the events share: `^/commonLabels/severity`.
 */
export type Pointers = string | readonly string[];

/**
 * Pointers, or lists of pointers. The values of a list are joined, and a list needs a value for each of its pointers: `[["/rule",
 * "/host"], "/rule"]` is "rule - host" if the event names a host.
 */
export type JoinedPointers = string | readonly Pointers[];

/** Pointers to the parts of an incident in an event. At least one of title, severity, event_id and type is required. */
export interface Mapping {
  /** Pointers to lists of events. All members of all lists are events. Without members, the first object is the only event. */
  readonly items?: Pointers;
  readonly title?: JoinedPointers;
  readonly severity?: Pointers;
  /** Unique for each event, and unchanged if the sender repeats or updates the event. */
  readonly event_id?: JoinedPointers;
  readonly type?: Pointers;
  readonly lift?: Readonly<Record<string, Pointers>>;
}

@Entity('webhook_sources')
export class WebhookSourceEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly source: string;

  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @Column({ type: 'text' })
  readonly format: EventFormatName;

  @Column({ type: 'text' })
  readonly signature: SignatureScheme;

  @Column({ type: 'text', nullable: true })
  readonly preset: string | null;

  @Column({ type: 'jsonb', nullable: true })
  readonly mapping: Mapping | null;

  @Column({ type: 'text', nullable: true })
  readonly incident_type: string | null;

  @Column({ type: 'jsonb' })
  readonly severity_mapping: SeverityMapping;

  @Column({ type: 'jsonb', default: {} })
  readonly type_mapping: TypeMapping;

  /** True if words of an event do not change the type. */
  @Column({ type: 'boolean', default: false })
  readonly incident_type_fixed: boolean;

  @Column({ type: 'enum', enum: SEVERITIES, enumName: 'incident_severity', default: 'low' })
  readonly min_severity: Severity;

  @Column({ type: 'boolean' })
  readonly auto_triage: boolean;

  @Column({ type: 'text', nullable: true })
  readonly playbook: string | null;

  /** Encrypted. Null if the key was lost; the source is then disabled. */
  @Column({ type: 'text', nullable: true })
  readonly secret: string | null;

  @Column({ type: 'text', nullable: true })
  readonly previous_secret: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly previous_secret_until: Date | null;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;
}

export type WebhookSource = Omit<WebhookSourceEntity, 'secret' | 'previous_secret'>;

/** Settings that decide which incident an event creates. */
export type ReadingRules = Pick<WebhookSource, 'source' | 'format'> & Partial<WebhookSource>;

/** A source with its decrypted secrets, the current secret first. */
export interface ReceivingSource extends WebhookSource {
  readonly secrets: readonly ReceivingSecret[];
}

export interface ReceivingSecret {
  readonly value: string;
  readonly until?: Date;
}

/** Settings for the events of a tool, from a YAML file in src/webhooks/presets. */
export interface Preset
  extends
    Pick<WebhookSource, 'signature'>,
    Partial<Pick<WebhookSource, 'severity_mapping' | 'type_mapping'>> {
  readonly name: string;
  readonly title: string;
  readonly documentation: string;
  /** Steps at the sender. `{url}` stands for the address of the source. */
  readonly set_up: readonly string[];
  readonly mapping: Mapping;
  readonly incident_type?: string;
}
