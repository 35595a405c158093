import type { Page, PageRequest } from '../paging/page.js';
import type { Tx } from '../database/transactions.js';
import type { DeadJob } from './jobs.js';

export interface DeadJobsQuery extends PageRequest {
  readonly queue?: string | undefined;
  /** The order of their deaths; the newest first otherwise. */
  readonly ascending?: boolean;
}

/** What operators do with jobs that failed for good. Needs no running workers. */
export abstract class DeadJobs {
  abstract list(query: DeadJobsQuery): Promise<Page<DeadJob>>;

  /** Puts it back into its queue with all its attempts; false when there is no such job. */
  abstract requeue(tx: Tx, id: string): Promise<boolean>;
}
