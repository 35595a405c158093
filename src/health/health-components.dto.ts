import { PROVIDERS } from '../triage/model/triage-model.port.js';
import type { ComponentName, ComponentStatus } from '../platform/health-components.js';
import {
  Choice,
  Decimal,
  Flag,
  Instant,
  Nested,
  OpenChoice,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';

/*
 * The parts of the service as /health/detailed shows them. What a part says beside its status is absent when its check
 * did not get so far. Each part has all its fields in one schema: some generators leave out what schemas inherit.
 */

const STATUSES = ['healthy', 'degraded', 'unhealthy', 'disabled'] as const;

const Count = (description: string, example: number) =>
  WholeNumber({ optional: true, min: 0, description, example });

export class ComponentHealthDto {
  @Choice('ComponentStatus', STATUSES, { example: 'healthy' })
  readonly status: ComponentStatus;

  @Text({ optional: true, example: 'The kill switch is on.' })
  readonly message?: string;
}

class DatabaseComponentDto extends ComponentHealthDto {
  @Count('The connections that this replica has to the database.', 4)
  readonly connections?: number;

  @Count('Those of them that are at work.', 1)
  readonly busy?: number;

  @Count('What waits for a connection to be free.', 0)
  readonly waiting?: number;

  @Decimal({
    optional: true,
    description:
      'How far the clock of the machine is ahead of that of the database, whose time is used.',
    example: 0,
  })
  readonly clock_offset_seconds?: number;

  @Text({ optional: true, description: 'What is wrong, in the words of /ready.' })
  readonly obstacle?: string;
}

class LlmFailureDto {
  @Text({ example: 'timeout' })
  readonly reason: string;

  @Instant({ example: '2026-01-31T09:30:00.000Z' })
  readonly at: string;
}

class LlmComponentDto extends ComponentHealthDto {
  @OpenChoice('TriageProvider', PROVIDERS, { optional: true, example: 'rules' })
  readonly provider?: string;

  @Text({ optional: true, description: 'The model that is asked, as the settings name it.' })
  readonly model?: string;

  @Count('The triage runs that wait.', 0)
  readonly runs_waiting?: number;

  @Nested(() => LlmFailureDto, {
    optional: true,
    description: 'The last time that the provider gave this replica nothing.',
  })
  readonly last_failure?: LlmFailureDto;
}

class ConnectorsComponentDto extends ComponentHealthDto {
  @Count('The connectors that are enabled.', 3)
  readonly total?: number;

  @Texts({ optional: true, description: 'The names of those that do not answer.', example: [] })
  readonly unhealthy?: readonly string[];
}

class NotificationsComponentDto extends ComponentHealthDto {
  @Count('The notification channels that are enabled.', 3)
  readonly total?: number;

  @Count('The notifications that are on their way.', 0)
  readonly waiting?: number;

  @Texts({
    optional: true,
    description: 'The names of those whose last attempt failed, and that do not fail for long yet.',
    example: [],
  })
  readonly failing?: readonly string[];

  @Texts({ optional: true, description: 'The names of those that fail for long.', example: [] })
  readonly unhealthy?: readonly string[];
}

class KillSwitchComponentDto extends ComponentHealthDto {
  @Flag({ optional: true, example: false })
  readonly active?: boolean;
}

class JobsComponentDto extends ComponentHealthDto {
  @Count('The jobs that wait.', 0)
  readonly waiting?: number;

  @Count('The jobs that are under way.', 0)
  readonly active?: number;

  @Count('The jobs that failed for good: GET /api/jobs/dead.', 0)
  readonly dead?: number;

  @Count('The playbook runs that wait for a replica to carry them on.', 0)
  readonly playbook_runs_due?: number;

  @Count('The webhook events whose incidents are still to be made.', 0)
  readonly webhook_events_queued?: number;

  @Count('The webhook events that could not be read.', 2)
  readonly webhook_events_failed?: number;
}

class AccessComponentDto extends ComponentHealthDto {
  @Flag({
    optional: true,
    description: 'A password that the first start made up is still in use.',
    example: false,
  })
  readonly made_up_password?: boolean;
}

class AuditComponentDto extends ComponentHealthDto {
  @Count('The entries of the audit trail that wait to be sealed.', 3)
  readonly unsealed?: number;

  @Count('How long the first of them has waited.', 0)
  readonly oldest_unsealed_seconds?: number;
}

export class HealthComponentsDto implements Readonly<Record<ComponentName, ComponentHealthDto>> {
  @Nested(() => DatabaseComponentDto)
  readonly database: DatabaseComponentDto;

  @Nested(() => ComponentHealthDto, {
    description:
      'What counts the rate limits of all replicas; `disabled` where each counts for itself.',
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
