import { AlwaysTrue, ID_EXAMPLE, Text } from '../validation/fields.js';

/** Response to the deletion of a resource with a UUID. */
export class DeletedResourceDto {
  @Text({ format: 'uuid', example: ID_EXAMPLE })
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}
