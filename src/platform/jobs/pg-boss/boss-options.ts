import type { ConstructorOptions, Queue } from 'pg-boss';
import type { JobQueue } from '../job-queue.js';

export const BOSS_SCHEMA = 'pgboss';

/** Jobs that failed for good are copied here, with their last error, for an operator to see. */
export const DEAD_QUEUE = 'dead';

const DAY = 86_400;

/** A worker that gives no sign of life for so long is dead; the least that the library takes. */
const HEARTBEAT_SECONDS = 10;
/** How often workers give that sign: two may go missing. */
export const BEAT_MS = 3_000;

/** Together with the heartbeat it bounds the time until the job of a killed worker runs again. */
const SUPERVISE_SECONDS = 3;

/** Rebuilding a larger index could outlast the statement timeout and leave an invalid one behind. */
const LARGEST_REINDEX_BYTES = 64 * 1024 * 1024;

export const BOSS_OPTIONS = {
  schema: BOSS_SCHEMA,
  // What recurs is enqueued by `every`, and jobs do not depend on each other.
  schedule: false,
  flowIntervalSeconds: 3_600,
  superviseIntervalSeconds: SUPERVISE_SECONDS,
  monitorIntervalSeconds: SUPERVISE_SECONDS,
  maintenanceIntervalSeconds: 60,
  // The metrics tell the backlog; a warning at each look at it would tell nothing more.
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
    // One waiting job per singleton key; jobs without a key get one of their own.
    policy: 'short',
    retryLimit: queue.retryLimit,
    retryDelay: queue.retryDelaySeconds,
    retryBackoff: true,
    retryDelayMax: queue.retryDelayMaxSeconds,
    expireInSeconds: queue.timeLimitSeconds,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    // A waiting job is never forgotten; a done one is deleted at once, and of a dead one the copy stays.
    retentionSeconds: 365 * DAY,
    deleteAfterSeconds: 600,
    deadLetter: DEAD_QUEUE,
  };
}

export function periodicQueueName(name: string): string {
  return `every.${name}`;
}

/** The library allows one job per time slot as long as the last one's row is there, and one that waits or runs. */
export function periodicQueueDefinition(name: string, seconds: number): Queue {
  return {
    name: periodicQueueName(name),
    policy: 'exclusive',
    retryLimit: 0,
    expireInSeconds: 900,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retentionSeconds: 2 * seconds + 60,
    deleteAfterSeconds: 2 * seconds + 60,
  };
}
