import { AlwaysTrue, Id } from '../validation/fields.js';

export class DeletedDto {
  @Id()
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}
