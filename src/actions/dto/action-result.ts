import { Choice, Flag, JsonObject, Text } from '../../platform/validation/fields.js';
import { type ActionResult, FAILURE_CODES, type FailureCode } from '../action.js';

const CODES = `\`refused\`: the vendor refused the action. \`unreachable\`: the vendor could not be reached, or did not answer a look-up.
\`timeout\`: the outcome is not known, and the action can be requested again. \`no_connector\`: no enabled connector provides the type.
\`outcome_unknown\`: a call was sent that must not be repeated, and its outcome is not known. \`interrupted\`: the service
stopped before it sent a call.`;

/** What became of an action; shown by this module and by approvals. */
export class ActionResultDto {
  @Flag({ example: true })
  readonly success: boolean;

  @Text({ description: 'Result in words.', example: 'The email was moved.' })
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
    description: 'What a look-up found, or further details from the vendor.',
  })
  readonly data?: Readonly<Record<string, unknown>>;

  static from(this: void, result: ActionResult): ActionResultDto {
    const { success, message, code, simulated, data } = result;
    return { success, message, code, simulated, data };
  }
}
