import type { ExamplesByCase, OperationExamples } from '../platform/openapi/operation-examples.js';
import { DATABASE_OBSTACLES } from './obstacles.js';

const VERSION = { version: '0.1.0', uptime_seconds: 86_400 };

const COMPONENTS = {
  database: { status: 'healthy', clock_offset_seconds: 0, connections: 4, busy: 1, waiting: 0 },
  redis: { status: 'disabled', message: 'REDIS_URL is not set: each replica counts for itself.' },
  llm: { status: 'healthy', provider: 'rules', model: 'rules', runs_waiting: 0 },
  connectors: { status: 'healthy', total: 1 },
  kill_switch: { status: 'healthy', active: false },
  jobs: {
    status: 'healthy',
    waiting: 0,
    active: 0,
    dead: 0,
    playbook_runs_due: 0,
    webhook_events_queued: 0,
    webhook_events_failed: 0,
  },
  notifications: { status: 'disabled', message: 'No channel is enabled.', total: 0 },
  access: { status: 'healthy', made_up_password: false },
  audit: { status: 'healthy', unsealed: 3, oldest_unsealed_seconds: 0 },
};

const UNREACHABLE = {
  status: 'unhealthy',
  obstacle: 'unreachable',
  message: DATABASE_OBSTACLES.unreachable,
};

const NOT_KNOWN = {
  status: 'degraded',
  message:
    'It is not known whether the kill switch is on: it cannot be read. Until it can, nothing begins that it would stop.',
};

const overall: ExamplesByCase = {
  healthy: {
    summary: 'All is well',
    status: 200,
    answer: { status: 'healthy', ...VERSION },
  },
  unhealthy: {
    summary: 'The service does not work',
    status: 503,
    answer: { status: 'unhealthy', ...VERSION },
  },
};

const everyPart: ExamplesByCase = {
  healthy: {
    summary: 'All is well',
    status: 200,
    answer: { status: 'healthy', ...VERSION, components: COMPONENTS },
  },
  unhealthy: {
    summary: 'The database cannot be reached',
    status: 503,
    answer: {
      status: 'unhealthy',
      ...VERSION,
      components: { ...COMPONENTS, database: UNREACHABLE, kill_switch: NOT_KNOWN },
    },
  },
};

const liveness: ExamplesByCase = {
  alive: { summary: 'It is alive', status: 200, answer: { status: 'alive' } },
};

const readiness: ExamplesByCase = {
  ready: { summary: 'It takes requests', status: 200, answer: { status: 'ready' } },
  not_ready: {
    summary: 'The database cannot be reached',
    status: 503,
    answer: { status: 'not_ready', checks: { database: 'unreachable' } },
  },
};

export const HEALTH_EXAMPLES: OperationExamples = {
  getHealth: overall,
  getHealthUnderApi: overall,
  getDetailedHealth: everyPart,
  getDetailedHealthUnderApi: everyPart,
  getLiveness: liveness,
  getLivenessUnderApi: liveness,
  getReadiness: readiness,
  getReadinessUnderApi: readiness,
};
