import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { MOST_PER_PAGE } from '../../platform/paging/page.js';
import { Choice, Flag, Id, Instant, OpenChoice, Text } from '../../platform/validation/fields.js';
import { QueryInteger } from '../../platform/validation/query-fields.js';

const LONGEST_WAIT_SECONDS = 30;
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

type Kind = 'Action' | 'Incident';

export function ChangeOf(kind: Kind, events: readonly string[]) {
  const item = kind.toLowerCase();
  const listed = `${item}.listed`;
  abstract class Change {
    @OpenChoice(`${kind}ChangeEvent`, [listed, ...events], {
      description: `What happened. \`${listed}\`: nothing, the ${item} existed when the feed began.`,
    })
    readonly event: string;

    @Id(`${kind}ChangeId`, {
      optional: true,
      description: `Id of the change, also of its entry in the audit trail. Absent for \`${listed}\`.`,
    })
    readonly change_id?: string;

    @Instant({
      description: `Time of the change; for \`${listed}\`, of the last change. Changes are in the order in which they became visible, which is not exactly the order of their times.`,
    })
    readonly at: Date;

    @Text({
      optional: true,
      description: `Principal that made the change. Absent for \`${listed}\`.`,
    })
    readonly by?: string;
  }
  return Change;
}

export abstract class ChangesPageDto {
  @Text({
    description: 'Position after these changes, for the next request. Present in each response.',
  })
  readonly cursor: string;

  @Flag({ description: 'More changes may be available: send the next request without a wait.' })
  readonly has_more: boolean;
}

export function ApiChanges(kind: Kind, type: Type<ChangesPageDto>): MethodDecorator {
  const item = kind.toLowerCase();
  return applyDecorators(
    Operation(
      `list${kind}Changes`,
      `Follow all changes of ${item}s`,
      `For a program that keeps a copy of all ${item}s. Returns every change at least once, in the order in which the changes became visible, each with the current state of the ${item}. Send the first request without a cursor, and each further request with the \`cursor\` of the previous response. Store the cursor together with the result of your processing, and continue with the stored cursor after a crash. Ignore an ${item} whose \`updated_at\` is before that of your copy.`,
    ),
    ApiAnswer(200, 'The next changes, and the cursor after them. `changes` may be empty.', type),
    ApiErrors('cursor_expired'),
    ApiErrorMeanings({
      cursor_expired: `The cursor is older than 30 days (\`details.reason\` is \`too_old\`), or the database was restored after the cursor was issued (\`database_restored\`), so changes may be missing. Start again with \`from=beginning\`, and delete the ${item}s that are not listed.`,
    }),
  );
}
