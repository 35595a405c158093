import { Flag, Text } from '../../platform/validation/fields.js';

export class TriageRequestDto {
  @Text({
    optional: true,
    min: 1,
    max: 200,
    description:
      'The name or id of an enabled playbook, whose instructions guide the model. None of its steps is run by this.',
  })
  readonly playbook?: string;

  @Flag({
    optional: true,
    default: false,
    example: false,
    description:
      'Ask the model again although there is a completed run, and let its verdict replace one that a person gave, or that of a resolved incident.',
  })
  readonly force?: boolean;
}
