import { ActionCountEntity } from './actions/listing/action-count.entity.js';
import { ActionEntity } from './actions/records/action.entity.js';
import { ApiKeyEntity } from './auth/keys/api-key.entity.js';
import { AttentionMarkEntity } from './attention/attention-mark.entity.js';
import { AuditAttestationEntity } from './audit/verification/audit-attestation.entity.js';
import { AuditChainEntity } from './audit/chain/audit-chain.entity.js';
import { AuditLogEntity } from './audit/audit-log.entity.js';
import { AuditSealEntity } from './audit/chain/audit-seal.entity.js';
import { ConnectorEntity } from './connectors/connector.entity.js';
import { DomainEventEntity } from './platform/jobs/events/domain-event.entity.js';
import { IdempotencyKeyEntity } from './platform/idempotency/idempotency-key.entity.js';
import {
  IncidentCountEntity,
  IncidentSegmentEntity,
} from './incidents/counting/incident-count.entity.js';
import { IncidentReportEntity } from './incidents/reports/incident-report.entity.js';
import { IncidentEntity } from './incidents/records/incident.entity.js';
import { IncidentTimelineEntity } from './incidents/timeline/incident-timeline.entity.js';
import { KillSwitchEntity } from './kill-switch/kill-switch.entity.js';
import { KnownNetworkEntity } from './auth/sessions/known-network.entity.js';
import { ProcessedEventEntity } from './platform/jobs/events/processed-event.entity.js';
import { SecretKeyEntity } from './platform/secrets/secret-key.entity.js';
import { SessionEntity } from './auth/sessions/session.entity.js';
import { UnhandledEventEntity } from './platform/jobs/events/unhandled-event.entity.js';
import { UserEntity } from './auth/users/user.entity.js';
import { BOSS_SCHEMA } from './platform/jobs/pg-boss/boss-options.js';
import { installBoss } from './platform/jobs/pg-boss/boss-instance.js';
import type { Schema } from './platform/database/data-source.js';
import { DomainEvents1795000100000 } from './platform/database/migrations/1795000100000-domain-events.js';
import { Audit1795000200000 } from './platform/database/migrations/1795000200000-audit.js';
import { Idempotency1795000300000 } from './platform/database/migrations/1795000300000-idempotency.js';
import { Auth1795000400000 } from './platform/database/migrations/1795000400000-auth.js';
import { Incidents1795000500000 } from './platform/database/migrations/1795000500000-incidents.js';
import { KillSwitch1795000600000 } from './platform/database/migrations/1795000600000-kill-switch.js';
import { Connectors1795000700000 } from './platform/database/migrations/1795000700000-connectors.js';
import { Actions1795000800000 } from './platform/database/migrations/1795000800000-actions.js';
import { Logins1795001000000 } from './platform/database/migrations/1795001000000-logins.js';
import { KeyOwners1795001100000 } from './platform/database/migrations/1795001100000-key-owners.js';
import { SessionOrigins1795001110000 } from './platform/database/migrations/1795001110000-session-origins.js';
import { ActionLevels1795001300000 } from './platform/database/migrations/1795001300000-action-levels.js';
import { AuditWriters1795001400000 } from './platform/database/migrations/1795001400000-audit-writers.js';
import { SecretKeys1795001500000 } from './platform/database/migrations/1795001500000-secret-keys.js';
import { AuditAttestations1795001510000 } from './platform/database/migrations/1795001510000-audit-attestations.js';
import { WriteProbe1795001600000 } from './platform/database/migrations/1795001600000-write-probe.js';
import { IncidentTitles1795001700000 } from './platform/database/migrations/1795001700000-incident-titles.js';
import { Webhooks1795001800000 } from './platform/database/migrations/1795001800000-webhooks.js';
import { TriageRuns1795001900000 } from './platform/database/migrations/1795001900000-triage-runs.js';
import { Playbooks1795002000000 } from './platform/database/migrations/1795002000000-playbooks.js';
import { PlaybookRuns1795002100000 } from './platform/database/migrations/1795002100000-playbook-runs.js';
import { UnhandledEvents1795002200000 } from './platform/database/migrations/1795002200000-unhandled-events.js';
import { Notifications1795002500000 } from './platform/database/migrations/1795002500000-notifications.js';
import { Resolutions1795002600000 } from './platform/database/migrations/1795002600000-resolutions.js';
import { PlaybookRunsMayGo1795002800000 } from './platform/database/migrations/1795002800000-playbook-runs-may-go.js';
import { IncidentFields1795003000000 } from './platform/database/migrations/1795003000000-incident-fields.js';
import { TypeMapping1795003010000 } from './platform/database/migrations/1795003010000-type-mapping.js';
import { ActionTargets1795003040000 } from './platform/database/migrations/1795003040000-action-targets.js';
import { SharedActions1795003041000 } from './platform/database/migrations/1795003041000-shared-actions.js';
import { IncidentReports1795003050000 } from './platform/database/migrations/1795003050000-incident-reports.js';
import { WebhookEventProgress1795003051000 } from './platform/database/migrations/1795003051000-webhook-event-progress.js';
import { FixedTypes1795003052000 } from './platform/database/migrations/1795003052000-fixed-types.js';
import { Messages1795003400000 } from './platform/database/migrations/1795003400000-messages.js';
import { ApprovalReminders1795003410000 } from './platform/database/migrations/1795003410000-approval-reminders.js';
import { Attention1795003510000 } from './platform/database/migrations/1795003510000-attention.js';
import { PlaybookRunStarts1795003520000 } from './platform/database/migrations/1795003520000-playbook-run-starts.js';
import { RunsOfWorseVerdicts1795003540000 } from './platform/database/migrations/1795003540000-runs-of-worse-verdicts.js';
import { UpdatedEvents1795003530000 } from './platform/database/migrations/1795003530000-updated-events.js';
import { NotificationChannelEntity } from './notifications/records/notification-channel.entity.js';
import {
  NotificationDeliveryCountEntity,
  NotificationDeliveryEntity,
} from './notifications/records/notification-delivery.entity.js';
import { PlaybookRunStepEntity } from './playbooks/runs/records/playbook-run-step.entity.js';
import { PlaybookRunCountEntity } from './playbooks/runs/records/playbook-run-count.entity.js';
import { PlaybookRunEntity } from './playbooks/runs/records/playbook-run.entity.js';
import { PlaybookEntity } from './playbooks/records/playbook.entity.js';
import { PlaybookVersionEntity } from './playbooks/records/playbook-version.entity.js';
import { IncidentIndicatorEntity } from './triage/records/incident-indicator.entity.js';
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
import { REMEMBERED_SECRETS } from './platform/idempotency/request-identity.js';
import type { SealedColumn } from './platform/secrets/sealed-values.js';

/**
 * The migrations, oldest first, and the tables that they make. The few tables without an entity are
 * listed with their reasons in test/db/entities.spec.ts.
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
    IncidentSegmentEntity,
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
    ProcessedEventEntity,
    SecretKeyEntity,
    SessionEntity,
    TriageRunEntity,
    UnhandledEventEntity,
    UserEntity,
    WebhookEventCountEntity,
    WebhookEventEntity,
    WebhookSeenEventEntity,
    WebhookSourceEntity,
  ],
  migrations: [
    DomainEvents1795000100000,
    Audit1795000200000,
    Idempotency1795000300000,
    Auth1795000400000,
    Incidents1795000500000,
    KillSwitch1795000600000,
    Connectors1795000700000,
    Actions1795000800000,
    Logins1795001000000,
    KeyOwners1795001100000,
    SessionOrigins1795001110000,
    ActionLevels1795001300000,
    AuditWriters1795001400000,
    SecretKeys1795001500000,
    AuditAttestations1795001510000,
    WriteProbe1795001600000,
    IncidentTitles1795001700000,
    Webhooks1795001800000,
    TriageRuns1795001900000,
    Playbooks1795002000000,
    PlaybookRuns1795002100000,
    UnhandledEvents1795002200000,
    Notifications1795002500000,
    Resolutions1795002600000,
    PlaybookRunsMayGo1795002800000,
    IncidentFields1795003000000,
    TypeMapping1795003010000,
    ActionTargets1795003040000,
    SharedActions1795003041000,
    IncidentReports1795003050000,
    WebhookEventProgress1795003051000,
    FixedTypes1795003052000,
    Messages1795003400000,
    ApprovalReminders1795003410000,
    Attention1795003510000,
    PlaybookRunStarts1795003520000,
    UpdatedEvents1795003530000,
    RunsOfWorseVerdicts1795003540000,
  ],
  librarySchemas: [BOSS_SCHEMA],
  installLibraries: installBoss,
};

/** Every column that holds what SecretBox sealed. What is missing here would be lost with the key that sealed it. */
export const sealedColumns: readonly SealedColumn[] = [
  CONNECTOR_SECRETS,
  ...CHANNEL_SECRETS,
  REMEMBERED_SECRETS,
  ...WEBHOOK_SECRETS,
];
