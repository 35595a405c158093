/* Exports all entities. test/db/entities.spec.ts lists the tables that have no entity, with reasons. */
export { ActionEntity } from './actions/action.js';
export { AttentionMarkEntity } from './attention/attention.service.js';
export * from './audit/audit.entity.js';
export { ApiKeyEntity, SessionEntity, UserEntity } from './auth/auth.entity.js';
export { ConnectorEntity } from './connectors/connector-registry.js';
export { IncidentEntity } from './incidents/incident.js';
export { IncidentReportEntity } from './incidents/reports/incident-reports.js';
export { IncidentTimelineEntity } from './incidents/timeline/incident-timeline.js';
export { KillSwitchEntity } from './kill-switch/kill-switch.js';
export { ChannelEntity } from './notifications/channel.js';
export { SecretKeyEntity } from './platform/secrets/secret-keys.js';
export { PlaybookEntity, PlaybookVersionEntity } from './playbooks/playbook.js';
export { TriageRunEntity } from './triage/triage-run.js';
export { WebhookEventEntity, WebhookSeenEventEntity } from './webhooks/webhook-events.js';
export { WebhookSourceEntity } from './webhooks/sources/webhook-source.entity.js';
