import { AlwaysTrue, Id } from '../validation/fields.js';

export class DeletedResourceDto {
  @Id()
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}
