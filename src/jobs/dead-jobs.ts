import type { DeadJob } from './jobs.js';

export interface DeadJobsFilter {
  readonly queue?: string;
  readonly limit?: number;
}

/** What operators do with jobs that failed for good. Needs no running workers, so a command can use it, too. */
export abstract class DeadJobs {
  /** The newest first. */
  abstract list(filter?: DeadJobsFilter): Promise<DeadJob[]>;

  /** Puts it back into its queue with all its attempts; false when there is no such job. */
  abstract requeue(id: string): Promise<boolean>;
}
