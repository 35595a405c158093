import { PROVIDERS } from '../triage/triage-run.js';
import type { Type } from '@nestjs/common';
import {
  COMPONENT_STATUSES,
  type ComponentHealth,
  type ComponentName,
  COMPONENTS,
  type ComponentStatus,
} from '../platform/health-components.js';
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

export const OBSTACLES = {
  database: {
    unreachable: 'The database cannot be reached.',
    'read-only': 'The database is read-only: changes are not possible.',
    'disk full': 'The disk of the database is full: nothing can be added.',
    'refuses writes': 'The database rejects writes. The log has the reason.',
  },
  service: { stopping: 'The service is stopping and accepts no new requests.' },
} as const;
export type DatabaseObstacle = keyof typeof OBSTACLES.database;
export type Obstacles = {
  readonly [Part in keyof typeof OBSTACLES]?: keyof (typeof OBSTACLES)[Part];
};

const OBSTACLES_IN_WORDS = Object.entries(OBSTACLES)
  .flatMap(([part, obstacles]) =>
    Object.entries(obstacles).map(([word, meaning]) => `- \`${part}\`: \`${word}\`. ${meaning}`),
  )
  .join('\n');

class ComponentHealthDto {
  @Choice('ComponentStatus', COMPONENT_STATUSES)
  readonly status: ComponentStatus;

  @Text({ optional: true })
  readonly message?: string;
}

class LlmFailureDto {
  @Text({ description: 'Reason, as in `details.reason` of an error.' })
  readonly reason: string;

  @Instant()
  readonly at: string;
}

const Count = (description: string) => WholeNumber({ optional: true, min: 0, description });
const Names = (description: string) => Texts({ optional: true, description });

/** Schema of a component with further fields. Repeats all fields, because some generators omit inherited fields. */
function component(name: string, fields: Readonly<Record<string, PropertyDecorator>>) {
  const dto = { [`${name}ComponentDto`]: class extends ComponentHealthDto {} };
  const type = dto[`${name}ComponentDto`]!;
  for (const [field, decorate] of Object.entries(fields)) decorate(type.prototype, field);
  return type;
}

const COMPONENT_TYPES: Readonly<Record<ComponentName, Type<ComponentHealthDto>>> = {
  database: component('Database', {
    connections: Count('Connections of this replica to the database.'),
    busy: Count('Connections in use.'),
    waiting: Count('Requests that wait for a connection.'),
    clock_offset_seconds: Decimal({
      optional: true,
      description:
        'Seconds that the clock of this machine is ahead of the clock of the database. The service uses the database clock.',
    }),
    obstacle: Text({ optional: true, description: 'Obstacle, in the words of /ready.' }),
  }),
  redis: ComponentHealthDto,
  llm: component('Llm', {
    provider: OpenChoice('TriageProvider', PROVIDERS, { optional: true }),
    model: Text({ optional: true, description: 'Model that the settings name.' }),
    runs_waiting: Count('Waiting triage runs.'),
    last_failure: Nested(() => LlmFailureDto, {
      optional: true,
      description: 'Last failure of the provider on this replica.',
    }),
  }),
  connectors: component('Connectors', {
    total: Count('Enabled connectors.'),
    unhealthy: Names('Names of connectors that do not answer.'),
  }),
  kill_switch: component('KillSwitch', { active: Flag({ optional: true }) }),
  jobs: component('Jobs', {
    waiting: Count('Waiting jobs.'),
    active: Count('Running jobs.'),
    dead: Count('Jobs that used all attempts: GET /api/jobs/dead.'),
    playbook_runs_due: Count('Playbook runs that wait for a replica.'),
    oldest_waiting_seconds: Count(
      'Longest wait in seconds of the first item of a queue: receipts, events, triage, playbooks, notifications.',
    ),
    webhook_events_queued: Count('Webhook events that wait to become incidents.'),
    webhook_events_failed: Count('Webhook events that could not be parsed.'),
  }),
  notifications: component('Notifications', {
    total: Count('Enabled notification channels.'),
    waiting: Count('Notifications that are not delivered yet.'),
    failing: Names('Names of channels whose last attempt failed recently.'),
    unhealthy: Names('Names of channels that have failed for a long time.'),
  }),
  access: component('Access', {
    made_up_password: Flag({
      optional: true,
      description: 'A generated password of the first start is still in use.',
    }),
  }),
  audit: component('Audit', {
    unsealed: Count('Audit entries that wait to be sealed.'),
    oldest_unsealed_seconds: Count('Age of the oldest unsealed entry in seconds.'),
  }),
};

const REDIS =
  'Redis counts the rate limits of all replicas. `disabled` if each replica counts its own requests.';

class HealthComponentsDto {}
for (const name of COMPONENTS) {
  const description = name === 'redis' ? REDIS : undefined;
  Nested(() => COMPONENT_TYPES[name], { description })(HealthComponentsDto.prototype, name);
}

const OVERALL = ['healthy', 'degraded', 'unhealthy'] as const;

export class HealthDto {
  @Choice('HealthStatus', OVERALL)
  readonly status: (typeof OVERALL)[number];

  @Text()
  readonly version: string;

  @WholeNumber({ min: 0, description: 'Age of the process in seconds.' })
  readonly uptime_seconds: number;
}

export class DetailedHealthDto extends HealthDto {
  @Nested(() => HealthComponentsDto)
  readonly components: Readonly<Record<ComponentName, ComponentHealth>>;
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
