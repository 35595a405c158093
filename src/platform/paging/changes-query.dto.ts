import { Choice, Text } from '../validation/fields.js';
import { QueryInteger } from '../validation/query-fields.js';
import { MOST_PER_PAGE } from './page.js';

const LONGEST_WAIT_SECONDS = 30;
/** A cursor lists the transactions that were in progress, possibly hundreds. */
const LONGEST_CURSOR = 12_000;

export class ChangesQueryDto {
  @Text({
    optional: true,
    min: 1,
    max: LONGEST_CURSOR,
    pattern: /^[A-Za-z0-9_-]+$/,
    description:
      '`cursor` of the previous response. Its format may change with any release. It is valid for 30 days.',
    contract: { example: undefined },
  })
  readonly cursor?: string;

  @Choice('ChangesFrom', ['beginning', 'now'], {
    optional: true,
    default: 'beginning',
    description:
      'Start of the feed without a cursor. `beginning`: all existing items, then every change. `now`: only changes from now on.',
  })
  readonly from: 'beginning' | 'now' = 'beginning';

  @QueryInteger({
    optional: true,
    min: 1,
    max: MOST_PER_PAGE,
    default: MOST_PER_PAGE,
    description: 'Maximum number of changes in the response.',
  })
  readonly limit: number = MOST_PER_PAGE;

  @QueryInteger({
    optional: true,
    min: 0,
    max: LONGEST_WAIT_SECONDS,
    default: 0,
    description:
      'Maximum time in seconds to wait for a change. Set the timeout of your client to a higher value.',
  })
  readonly wait: number = 0;
}
