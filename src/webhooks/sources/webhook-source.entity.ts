import { NotEquals } from 'class-validator';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { SEVERITIES, type Severity } from '../../incidents/incident.js';
import { Instant, Text } from '../../platform/validation/fields.js';

export const SOURCE_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

export const SIGNATURE_SCHEMES = ['timestamped', 'body', 'standard', 'token', 'basic'] as const;
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

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

export type SeverityMapping = Readonly<Record<string, Severity>>;

/** The first pointer to a text or number counts. A pointer with `^` starts at the body, which events may share. */
export type Pointers = string | readonly string[];

/** Joins the values of an inner list: `[["/rule", "/host"], "/rule"]` gives "rule - host" if the event has a host. */
export type JoinedPointers = string | readonly Pointers[];

export interface Mapping {
  /** Pointers to lists, whose items are the events. If there are no items, the first object found is the only event. */
  readonly items?: Pointers;
  readonly title?: JoinedPointers;
  readonly severity?: Pointers;
  readonly event_id?: JoinedPointers;
  readonly type?: Pointers;
  readonly lift?: Readonly<Record<string, Pointers>>;
}

const TIME = { example: '2026-11-02T09:00:00.000Z' };

@Entity('webhook_sources')
export class WebhookSourceEntity {
  @Text({
    pattern: SOURCE_NAME,
    message:
      'source must be 1 to 63 small letters, digits, hyphens and underscores, beginning with a letter or digit',
    description: 'Name of the source. Events are sent to `/api/webhooks/<source>`.',
    example: 'mail-gateway',
    contract: { title: 'WebhookSourceName' },
  })
  // A source with this name would hide the path of the presets.
  @NotEquals('presets', { message: 'source must not be presets' })
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
  readonly type_mapping: Readonly<Record<string, string>>;

  @Column({ type: 'boolean', default: false })
  readonly incident_type_fixed: boolean;

  @Column({ type: 'enum', enum: SEVERITIES, enumName: 'incident_severity', default: 'low' })
  readonly min_severity: Severity;

  @Column({ type: 'boolean' })
  readonly auto_triage: boolean;

  @Column({ type: 'text', nullable: true })
  readonly playbook: string | null;

  /** Encrypted secret. Null if its key was lost. In this case, the source is disabled. */
  @Column({ type: 'text', nullable: true })
  readonly secret: string | null;

  @Column({ type: 'text', nullable: true })
  readonly previous_secret: string | null;

  @Instant({ ...TIME, optional: true, description: 'End of the previous secret.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly previous_secret_until: Date | null;

  @Text({ description: 'Principal that registered it.', example: 'admin' })
  @Column({ type: 'text' })
  readonly created_by: string;

  @Instant(TIME)
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Instant(TIME)
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;
}

export type WebhookSource = Omit<WebhookSourceEntity, 'secret' | 'previous_secret'>;

export type ReadingRules = Pick<WebhookSource, 'source' | 'format'> & Partial<WebhookSource>;

export type ReceivingSecret = Readonly<{ value: string; until?: Date | null }>;

export type ReceivingSource = WebhookSource & Readonly<{ secrets: readonly ReceivingSecret[] }>;

/** Settings for the events of a tool, from a YAML file in src/webhooks/presets. */
export type Preset = Readonly<Record<'name' | 'title' | 'documentation', string>> &
  Pick<WebhookSource, 'signature'> &
  Partial<Pick<WebhookSource, 'severity_mapping' | 'type_mapping'>> & {
    readonly set_up: readonly string[];
    readonly mapping: Mapping;
    readonly incident_type?: string;
  };
