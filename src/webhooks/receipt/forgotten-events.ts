/** Its job should have come to it by then, unless there are very many. */
const LONG_WAIT_MS = 10 * 60_000;
/** Another replica may just be at it. */
const SHORT_WAIT_MS = 60_000;

/**
 * What was queued before this moment and still waits gets a job again: its own may be lost. Jobs are not in a backup, so
 * a process that has just started believes less of what it finds than of what came later.
 */
export function forgottenBefore(now: Date, startedAt: Date): Date {
  const found = Math.min(startedAt.getTime(), now.getTime() - SHORT_WAIT_MS);
  return new Date(Math.max(found, now.getTime() - LONG_WAIT_MS));
}
