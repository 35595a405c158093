import type { WebhookSourceEntity } from './webhook-source.entity.js';
import type { WebhookSource } from './webhook-source.js';

/** A row as a source without its secrets. The time of a former secret that has ended is told no more. */
export function sourceOf(row: WebhookSourceEntity, now: Date): WebhookSource {
  const until = row.previous_secret_until;
  return {
    source: row.source,
    enabled: row.enabled,
    signature: row.signature,
    format: row.format,
    preset: row.preset ?? undefined,
    mapping: row.mapping ?? undefined,
    incidentType: row.incident_type ?? undefined,
    severityMapping: row.severity_mapping,
    typeMapping: row.type_mapping,
    incidentTypeFixed: row.incident_type_fixed,
    minSeverity: row.min_severity,
    autoTriage: row.auto_triage,
    playbook: row.playbook ?? undefined,
    previousSecretUntil: until && until > now ? until : undefined,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
