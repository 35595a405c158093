import { PROVIDERS } from '../triage/model/triage-model.port.js';
import type { ComponentName, ComponentStatus } from '../platform/health-components.js';
import type { ModuleContract } from '../platform/openapi/module-contract.js';
import {
  Choice,
  Decimal,
  Flag,
  Instant,
  JsonObject,
  Nested,
  OpenChoice,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';

/** Obstacles that keep the service from accepting requests: the word in `/ready`, and a sentence for people. */
export const DATABASE_OBSTACLES = {
  unreachable: 'The database cannot be reached.',
  'read-only': 'The database is read-only: changes are not possible.',
  'disk full': 'The disk of the database is full: nothing can be added.',
  'refuses writes': 'The database rejects writes. The log has the reason.',
} as const;
export type DatabaseObstacle = keyof typeof DATABASE_OBSTACLES;

export function isDatabaseObstacle(word: unknown): word is DatabaseObstacle {
  return typeof word === 'string' && Object.hasOwn(DATABASE_OBSTACLES, word);
}

export const SERVICE_OBSTACLES = {
  stopping: 'The service is stopping and accepts no new requests.',
} as const;

export interface Obstacles {
  readonly database?: DatabaseObstacle;
  readonly service?: keyof typeof SERVICE_OBSTACLES;
}

const OBSTACLES_IN_WORDS = Object.entries({
  database: DATABASE_OBSTACLES,
  service: SERVICE_OBSTACLES,
})
  .flatMap(([part, obstacles]) =>
    Object.entries(obstacles).map(([word, meaning]) => `- \`${part}\`: \`${word}\`. ${meaning}`),
  )
  .join('\n');

/*
 * Components in /health/detailed. Further fields are absent if the check failed early. Each component repeats all
 * fields in one schema, because some generators omit inherited fields.
 */

const STATUSES = ['healthy', 'degraded', 'unhealthy', 'disabled'] as const;

const Count = (description: string) => WholeNumber({ optional: true, min: 0, description });

class ComponentHealthDto {
  @Choice('ComponentStatus', STATUSES)
  readonly status: ComponentStatus;

  @Text({ optional: true })
  readonly message?: string;
}

class DatabaseComponentDto extends ComponentHealthDto {
  @Count('Connections of this replica to the database.')
  readonly connections?: number;

  @Count('Connections in use.')
  readonly busy?: number;

  @Count('Requests that wait for a connection.')
  readonly waiting?: number;

  @Decimal({
    optional: true,
    description:
      'Seconds that the clock of this machine is ahead of the clock of the database. The service uses the database clock.',
  })
  readonly clock_offset_seconds?: number;

  @Text({ optional: true, description: 'Obstacle, in the words of /ready.' })
  readonly obstacle?: string;
}

class LlmFailureDto {
  @Text({ description: 'Reason, as in `details.reason` of an error.' })
  readonly reason: string;

  @Instant()
  readonly at: string;
}

class LlmComponentDto extends ComponentHealthDto {
  @OpenChoice('TriageProvider', PROVIDERS, { optional: true })
  readonly provider?: string;

  @Text({ optional: true, description: 'Model that the settings name.' })
  readonly model?: string;

  @Count('Waiting triage runs.')
  readonly runs_waiting?: number;

  @Nested(() => LlmFailureDto, {
    optional: true,
    description: 'Last failure of the provider on this replica.',
  })
  readonly last_failure?: LlmFailureDto;
}

class ConnectorsComponentDto extends ComponentHealthDto {
  @Count('Enabled connectors.')
  readonly total?: number;

  @Texts({ optional: true, description: 'Names of connectors that do not answer.' })
  readonly unhealthy?: readonly string[];
}

class NotificationsComponentDto extends ComponentHealthDto {
  @Count('Enabled notification channels.')
  readonly total?: number;

  @Count('Notifications that are not delivered yet.')
  readonly waiting?: number;

  @Texts({
    optional: true,
    description: 'Names of channels whose last attempt failed recently.',
  })
  readonly failing?: readonly string[];

  @Texts({ optional: true, description: 'Names of channels that have failed for a long time.' })
  readonly unhealthy?: readonly string[];
}

class KillSwitchComponentDto extends ComponentHealthDto {
  @Flag({ optional: true })
  readonly active?: boolean;
}

class JobsComponentDto extends ComponentHealthDto {
  @Count('Waiting jobs.')
  readonly waiting?: number;

  @Count('Running jobs.')
  readonly active?: number;

  @Count('Jobs that used all attempts: GET /api/jobs/dead.')
  readonly dead?: number;

  @Count('Playbook runs that wait for a replica.')
  readonly playbook_runs_due?: number;

  @Count(
    'Longest wait in seconds of the first item of a queue: receipts, events, triage, playbooks, notifications.',
  )
  readonly oldest_waiting_seconds?: number;

  @Count('Webhook events that wait to become incidents.')
  readonly webhook_events_queued?: number;

  @Count('Webhook events that could not be parsed.')
  readonly webhook_events_failed?: number;
}

class AccessComponentDto extends ComponentHealthDto {
  @Flag({ optional: true, description: 'A generated password of the first start is still in use.' })
  readonly made_up_password?: boolean;
}

class AuditComponentDto extends ComponentHealthDto {
  @Count('Audit entries that wait to be sealed.')
  readonly unsealed?: number;

  @Count('Age of the oldest unsealed entry in seconds.')
  readonly oldest_unsealed_seconds?: number;
}

class HealthComponentsDto implements Readonly<Record<ComponentName, ComponentHealthDto>> {
  @Nested(() => DatabaseComponentDto)
  readonly database: DatabaseComponentDto;

  @Nested(() => ComponentHealthDto, {
    description:
      'Redis counts the rate limits of all replicas. `disabled` if each replica counts its own requests.',
  })
  readonly redis: ComponentHealthDto;

  @Nested(() => LlmComponentDto)
  readonly llm: LlmComponentDto;

  @Nested(() => ConnectorsComponentDto)
  readonly connectors: ConnectorsComponentDto;

  @Nested(() => KillSwitchComponentDto)
  readonly kill_switch: KillSwitchComponentDto;

  @Nested(() => JobsComponentDto)
  readonly jobs: JobsComponentDto;

  @Nested(() => NotificationsComponentDto)
  readonly notifications: NotificationsComponentDto;

  @Nested(() => AccessComponentDto)
  readonly access: AccessComponentDto;

  @Nested(() => AuditComponentDto)
  readonly audit: AuditComponentDto;
}

const OVERALL = ['healthy', 'degraded', 'unhealthy'] as const;
export type OverallStatus = (typeof OVERALL)[number];

export class HealthDto {
  @Choice('HealthStatus', OVERALL)
  readonly status: OverallStatus;

  @Text()
  readonly version: string;

  @WholeNumber({ min: 0, description: 'Age of the process in seconds.' })
  readonly uptime_seconds: number;
}

export class DetailedHealthDto extends HealthDto {
  @Nested(() => HealthComponentsDto)
  readonly components: HealthComponentsDto;
}

export class LivenessDto {
  @Choice('LivenessStatus', ['alive'])
  readonly status: 'alive';
}

export class ReadinessDto {
  @Choice('ReadinessStatus', ['ready'])
  readonly status: 'ready';
}

export class UnreadinessDto {
  @Choice('UnreadinessStatus', ['not_ready'])
  readonly status: 'not_ready';

  @JsonObject({
    contract: { type: 'object', additionalProperties: { type: 'string' } },
    description: `Obstacles that keep the service from being ready, by component. An open set; currently:\n${OBSTACLES_IN_WORDS}`,
  })
  readonly checks: Obstacles;
}

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
};
