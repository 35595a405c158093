import { Choice, Flag, JsonObject, Text } from '../../platform/validation/fields.js';
import { type ActionResult, FAILURE_CODES, type FailureCode } from '../action.js';

const CODES = `\`refused\`: the vendor said no. \`unreachable\`: it could not be reached, or gave a look-up no answer that tells anything.
\`timeout\`: no answer tells what came of it, and it may be asked for again. \`no_connector\`: no enabled connector provides the type.
\`outcome_unknown\`: something was sent that may not be repeated, and nobody knows what became of it. \`interrupted\`: the service
stopped before anything was sent.`;

/** What became of an action; shown by this module and by approvals. */
export class ActionResultDto {
  @Flag({ example: true })
  readonly success: boolean;

  @Text({ description: 'In words.', example: 'The email was moved.' })
  readonly message: string;

  @Choice('ActionFailureCode', FAILURE_CODES, {
    optional: true,
    description: `Why it failed, for programs. ${CODES}`,
  })
  readonly code?: FailureCode;

  @Flag({
    optional: true,
    description: 'Nothing happened outside: the sandbox connector answered.',
    example: true,
  })
  readonly simulated?: boolean;

  @JsonObject({
    optional: true,
    description: 'What a look-up found, or what else the vendor said.',
  })
  readonly data?: Readonly<Record<string, unknown>>;

  static from(this: void, result: ActionResult): ActionResultDto {
    const { success, message, code, simulated, data } = result;
    return { success, message, code, simulated, data };
  }
}
