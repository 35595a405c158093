import { ApiProperty } from '@nestjs/swagger';
import { type ActionResult, FAILURE_CODES, type FailureCode } from '../action.js';

const CODES = `\`refused\`: the vendor said no. \`unreachable\`: it could not be reached. \`timeout\`: it did not answer in time.
\`no_connector\`: no enabled connector provides the type. \`outcome_unknown\`: something was sent, and nobody knows what became of
it. \`interrupted\`: the service stopped before anything was sent.`;

/** What became of an action; shown by this module and by approvals. */
export class ActionResultDto {
  @ApiProperty({ type: 'boolean', example: true })
  readonly success: boolean;

  @ApiProperty({ type: 'string', description: 'In words.', example: 'The email was moved.' })
  readonly message: string;

  @ApiProperty({
    enum: FAILURE_CODES,
    enumName: 'ActionFailureCode',
    required: false,
    description: `Why it failed, for programs. ${CODES}`,
  })
  readonly code?: FailureCode;

  @ApiProperty({
    type: 'boolean',
    required: false,
    description: 'Nothing happened outside: the sandbox connector answered.',
    example: true,
  })
  readonly simulated?: boolean;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    description: 'What a look-up found, or what else the vendor said.',
  })
  readonly data?: Readonly<Record<string, unknown>>;

  static from(this: void, result: ActionResult): ActionResultDto {
    const { success, message, code, simulated, data } = result;
    return {
      success,
      message,
      code,
      simulated,
      data,
    };
  }
}
