import type { PageRequest } from '../../../platform/paging/page.js';
import type { PlaybookRunStatus, RunOutcome } from '../playbook-run.js';

export interface RunFilter {
  readonly statuses?: readonly PlaybookRunStatus[];
  readonly outcomes?: readonly RunOutcome[];
  readonly playbookId?: string;
  readonly incidentId?: string;
  /** Those that started from this time on, and up to and with that one. */
  readonly from?: Date;
  readonly to?: Date;
}

export interface RunListRequest extends PageRequest {
  readonly filter: RunFilter;
  readonly newestFirst: boolean;
}
