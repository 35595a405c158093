import { ActionCountEntity, ActionEntity } from './actions/action.js';
import { ApiKeyEntity } from './auth/keys/api-key.entity.js';
import { AttentionMarkEntity } from './attention/attention-mark.entity.js';
import {
  AuditAttestationEntity,
  AuditChainEntity,
  AuditLogEntity,
  AuditSealEntity,
} from './audit/audit.entity.js';
import { ConnectorEntity } from './connectors/connector.entity.js';
import { IdempotencyKeyEntity } from './platform/idempotency/idempotency-key.entity.js';
import {
  IncidentCountEntity,
  IncidentReportEntity,
  IncidentTimelineEntity,
} from './incidents/records/incident.entity.js';
import { IncidentEntity } from './incidents/incident.js';
import { KillSwitchEntity } from './kill-switch/kill-switch.entity.js';
import { KnownNetworkEntity, SessionEntity } from './auth/sessions/session.entity.js';
import { DomainEventEntity, WorkEntity, WorkLaneEntity } from './platform/work/work.entity.js';
import { SecretKeyEntity } from './platform/secrets/secret-key.entity.js';
import { UserEntity } from './auth/users/user.entity.js';
import type { Schema } from './platform/database/data-source.js';
import { FirstSchema1796000000000 } from './migrations/1796000000000-first-schema.js';
import { NotificationChannelEntity } from './notifications/records/notification-channel.entity.js';
import {
  NotificationDeliveryCountEntity,
  NotificationDeliveryEntity,
} from './notifications/records/notification-delivery.entity.js';
import {
  PlaybookRunCountEntity,
  PlaybookRunEntity,
  PlaybookRunStepEntity,
} from './playbooks/runs/records/playbook-run.entity.js';
import { PlaybookEntity, PlaybookVersionEntity } from './playbooks/records/playbook.entity.js';
import { IncidentIndicatorEntity } from './triage/records/incident-indicators.repository.js';
import { TriageRunEntity } from './triage/records/triage-run.entity.js';
import {
  WebhookEventCountEntity,
  WebhookEventEntity,
  WebhookSeenEventEntity,
} from './webhooks/events/webhook-event.entity.js';
import { WebhookSourceEntity } from './webhooks/sources/webhook-source.entity.js';
import { WEBHOOK_SECRETS } from './webhooks/sources/sealed-secrets.js';
import { CHANNEL_SECRETS } from './notifications/sealed-channels.js';
import { CONNECTOR_SECRETS } from './connectors/config/sealed-config.js';
import { REMEMBERED_SECRETS } from './platform/idempotency/idempotency.repository.js';
import type { SealedColumn } from './platform/secrets/sealed-values.js';

/**
 * Migrations, oldest first, and entities. test/db/entities.spec.ts lists the tables without an entity, with reasons.
 */
export const schema: Schema = {
  entities: [
    ActionCountEntity,
    ActionEntity,
    ApiKeyEntity,
    AttentionMarkEntity,
    AuditAttestationEntity,
    AuditChainEntity,
    AuditLogEntity,
    AuditSealEntity,
    ConnectorEntity,
    DomainEventEntity,
    IdempotencyKeyEntity,
    IncidentCountEntity,
    IncidentEntity,
    IncidentIndicatorEntity,
    IncidentReportEntity,
    IncidentTimelineEntity,
    KillSwitchEntity,
    KnownNetworkEntity,
    NotificationChannelEntity,
    NotificationDeliveryCountEntity,
    NotificationDeliveryEntity,
    PlaybookEntity,
    PlaybookRunCountEntity,
    PlaybookRunEntity,
    PlaybookRunStepEntity,
    PlaybookVersionEntity,
    SecretKeyEntity,
    SessionEntity,
    TriageRunEntity,
    UserEntity,
    WebhookEventCountEntity,
    WebhookEventEntity,
    WebhookSeenEventEntity,
    WebhookSourceEntity,
    WorkEntity,
    WorkLaneEntity,
  ],
  migrations: [FirstSchema1796000000000],
};

/**
 * All columns with values that SecretBox sealed. A key rotation seals only these columns again; others would become
 * unreadable.
 */
export const sealedColumns: readonly SealedColumn[] = [
  CONNECTOR_SECRETS,
  ...CHANNEL_SECRETS,
  REMEMBERED_SECRETS,
  ...WEBHOOK_SECRETS,
];
