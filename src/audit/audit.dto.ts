import { PickType, type SchemaObject } from '@nestjs/swagger';
import { sortWords, PageQueryDto } from '../platform/paging/page.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import { AUDIT_ACTIONS, type AuditAction } from './audit-entry.js';

const SORTS = sortWords('at', 'created_at');

const LONGEST = 300;

export class AuditQueryDto extends PageQueryDto {
  @Choice('AuditSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: '`at` is the same as `created_at`.',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  @Text({ optional: true, min: 1, max: LONGEST })
  readonly actor?: string;

  @Choice('AuditAction', AUDIT_ACTIONS, { optional: true })
  readonly action?: AuditAction;

  @Text({ optional: true, min: 1, max: 2 * LONGEST, description: 'A type, an id, or `type:id`.' })
  readonly subject?: string;

  @Instant({ optional: true, description: 'Start of the time range, inclusive.' })
  readonly from?: string;

  @Instant({ optional: true, description: 'End of the time range, inclusive.' })
  readonly to?: string;
}

class AuditSubjectDto {
  @Text()
  readonly type: string;

  @Text()
  readonly id: string;
}

export class AuditRecordDto {
  @Id('AuditRecordId')
  readonly id: string;

  @Instant()
  readonly at: Date;

  @Text()
  readonly actor: string;

  @Text()
  readonly action: string;

  @Nested(() => AuditSubjectDto)
  readonly subject: AuditSubjectDto;

  @JsonObject()
  readonly details: Readonly<Record<string, unknown>>;

  @Text({
    optional: true,
    pattern: /^[0-9a-f]{64}$/,
    description:
      'Hash of the entry in the chain; absent for about one second, until the entry is sealed.',
  })
  readonly hash?: string;
}

export class AuditVerificationDto {
  @Flag({ description: 'No entry was changed, removed or inserted.' })
  readonly valid: boolean;

  @WholeNumber({
    min: 0,
    description: 'Number of unchanged sealed entries, up to the first changed entry.',
  })
  readonly checked: number;

  @WholeNumber({ min: 0, description: 'Number of entries that wait to be sealed.' })
  readonly unsealed: number;

  @Id('AuditRecordId', {
    optional: true,
    description: 'First entry that was changed; absent if only the end of the trail is missing.',
  })
  readonly first_invalid_id?: string;

  @Flag({
    optional: true,
    description:
      'True if the trail was set back to an earlier state or was replaced: it lacks the end that this service has seen or that AUDIT_ANCHOR_FILE contains. Otherwise absent.',
  })
  readonly head_rewound?: true;
}

export class AuditExportQueryDto extends PickType(AuditQueryDto, ['from', 'to']) {}

export const EXPORT_SCHEMA: SchemaObject = {
  type: 'string',
  format: 'binary',
  description: `One JSON object per line, distinguished by \`type\`:
- \`export\`: \`at\`, \`from\` and \`to\` if given, \`head\` (\`seq\` and \`hash\` of the end of the whole chain), \`previous\` (the seal before the first), \`last_seq\`, \`retired_keys\`
- \`entry\`: \`id\`, \`at\`, \`actor\`, \`action\`, \`subject_type\`, \`subject_id\`, \`details\` (JSON as text), \`key_id\`, \`mac\`, \`seal\` (\`seq\`, \`hash\`, \`key_id\`)
- \`removed\`: \`id\` and \`seal\` of an entry that was removed from the database
- \`end\`: \`sealed\` and \`unsealed\` (numbers of entries), \`key_id\`, \`mac\``,
};
