import { AlwaysTrue, ID_EXAMPLE, Text } from '../validation/fields.js';

/** Of whatever has a UUID. */
export class DeletedResourceDto {
  @Text({ format: 'uuid', example: ID_EXAMPLE })
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}
