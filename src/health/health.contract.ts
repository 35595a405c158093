import type { ModuleContract } from '../platform/openapi/module-contract.js';

/** Descriptions of this module in the OpenAPI document. */
export const HEALTH_CONTRACT: ModuleContract = {
  schemas: {
    NotificationsComponent: 'Health of notifications.',
    AccessComponent: 'Health of keys and passwords.',
    AuditComponent: 'Health of the audit trail.',
    ComponentHealth: 'Health of a component.',
    ConnectorsComponent: 'Health of the connectors.',
    DatabaseComponent: 'Health of PostgreSQL.',
    DetailedHealth: 'Health of the service by component.',
    Health: 'The health of the service.',
    HealthComponents: 'Components of the service.',
    HealthStatus:
      'healthy: everything works. degraded: some components are impaired. unhealthy: the service does not work.',
    JobsComponent: 'Health of background jobs.',
    KillSwitchComponent: 'Health of the kill switch.',
    Liveness: 'Response of a process that is alive.',
    LivenessStatus: 'The process answers.',
    LlmComponent: 'Health of triage.',
    LlmFailure: 'Last failure of the triage provider.',
    Readiness: 'Response of a service that accepts requests.',
    ReadinessStatus: 'The service accepts requests.',
    TriageProvider:
      'anthropic: an external model. rules: the built-in scorer. none: triage is off.',
    Unreadiness: 'Response of a service that does not accept requests now.',
    UnreadinessStatus: 'The service does not accept requests now.',
  },
  fields: {
    components: 'Health of every component.',
    'LlmFailure.reason': 'Reason, as in `details.reason` of an error.',
    uptime_seconds: 'How long the process has been running.',
    access: 'Whether a generated password of the first start is still in use.',
    audit: 'Whether the audit trail is unchanged and sealed in time.',
    connectors: 'Whether the enabled connectors answer.',
    database: 'Whether PostgreSQL answers.',
    jobs: 'State of background jobs.',
    kill_switch: 'Whether the kill switch is on. This makes the service degraded, not unhealthy.',
    llm: 'Whether triage works.',
    notifications: 'Whether notifications are delivered.',
  },
};
