import type { ConstructorOptions, Queue } from 'pg-boss';
import type { JobQueue } from '../jobs.js';

export const BOSS_SCHEMA = 'pgboss';

/** Queue of dead jobs with their last error, for operators. */
export const DEAD_QUEUE = 'dead';

const DAY = 86_400;

/** A worker without a heartbeat for this time is dead; the minimum of the library. */
const HEARTBEAT_SECONDS = 10;
/** Heartbeat interval. Two heartbeats may be lost. */
export const BEAT_MS = 3_000;

/** With the heartbeat this bounds the time until the job of a killed worker is retried. */
const SUPERVISE_SECONDS = 3;

/** Rebuilding a larger index could exceed the statement timeout and leave an invalid index. */
const LARGEST_REINDEX_BYTES = 64 * 1024 * 1024;

export const BOSS_OPTIONS = {
  schema: BOSS_SCHEMA,
  // Timers are work of the engine, and jobs have no dependencies.
  schedule: false,
  flowIntervalSeconds: 3_600,
  superviseIntervalSeconds: SUPERVISE_SECONDS,
  monitorIntervalSeconds: SUPERVISE_SECONDS,
  maintenanceIntervalSeconds: 60,
  // Metrics show the backlog, so warnings about it are not needed.
  warningQueueSize: 1_000_000,
  reindex: { maxIndexBytes: LARGEST_REINDEX_BYTES },
} as const satisfies ConstructorOptions;

export const DEAD_QUEUE_DEFINITION = {
  name: DEAD_QUEUE,
  policy: 'standard',
  retentionSeconds: 14 * DAY,
  deleteAfterSeconds: DAY,
} as const satisfies Queue;

export function queueDefinition(queue: JobQueue<object>): Queue {
  return {
    name: queue.name,
    // One waiting job per singleton key. Jobs without a key get a unique one.
    policy: 'short',
    retryLimit: queue.retryLimit,
    retryDelay: queue.retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: queue.retryDelayMaxSeconds,
    expireInSeconds: queue.timeLimitSeconds,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    // Waiting jobs are kept practically forever. Done jobs are deleted at once; dead jobs are copied.
    retentionSeconds: 365 * DAY,
    deleteAfterSeconds: 600,
    deadLetter: DEAD_QUEUE,
  };
}
