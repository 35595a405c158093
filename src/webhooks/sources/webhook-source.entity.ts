import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { SEVERITIES, type Severity } from '../../incidents/incident.js';
import type { Mapping } from '../mapping/mapping.js';
import type {
  EventFormatName,
  SeverityMapping,
  SignatureScheme,
  TypeMapping,
} from './webhook-source.js';

@Entity('webhook_sources')
@Check('ck_webhook_sources_secret', `secret is not null or not enabled`)
@Check(
  'ck_webhook_sources_previous_secret',
  `(previous_secret is null) = (previous_secret_until is null)`,
)
@Index('ix_webhook_sources_created_at', ['created_at', 'source'])
export class WebhookSourceEntity {
  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_webhook_sources',
  })
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

  @Column({ type: 'boolean', default: false })
  readonly incident_type_fixed: boolean;

  @Column({ type: 'enum', enum: SEVERITIES, enumName: 'incident_severity', default: 'low' })
  readonly min_severity: Severity;

  @Column({ type: 'boolean' })
  readonly auto_triage: boolean;

  @Column({ type: 'text', nullable: true })
  readonly playbook: string | null;

  /** Sealed with the service's key; null only when that key was lost, and then the source is disabled. */
  @Column({ type: 'text', nullable: true })
  readonly secret: string | null;

  /** The one before, while it is valid, too. */
  @Column({ type: 'text', nullable: true })
  readonly previous_secret: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly previous_secret_until: Date | null;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;
}
