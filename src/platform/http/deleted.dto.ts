import { AlwaysTrue, ID_EXAMPLE, Text } from '../validation/fields.js';

export class DeletedResourceDto {
  @Text({ format: 'uuid', example: ID_EXAMPLE })
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}
