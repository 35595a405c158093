import { PartialType, PickType } from '@nestjs/swagger';
import {
  Flag,
  Instant,
  JsonObject,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import type { TargetType } from './target-check.js';
import type { Config, ConfigSchema } from './target-config.js';
import { TargetRow } from './target-rows.js';

export class ShownTarget extends PickType(TargetRow, ['name', 'type', 'enabled', 'config']) {
  @Texts({ description: 'Names of the secrets that are set.' })
  readonly secrets_set: readonly string[];

  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;
}

/** Validates requests. The contract shows one schema per type instead. */
export class TargetInput extends PickType(TargetRow, ['name', 'type']) {
  @JsonObject()
  readonly config: Config;

  @Flag({ optional: true, default: true })
  readonly enabled?: boolean;
}

export class TargetUpdate extends PartialType(PickType(TargetRow, ['name', 'enabled'])) {
  @JsonObject({
    optional: true,
    description:
      'Fields to change. Absent fields do not change, including secrets. Null removes an optional field. In a map of secrets only the given entries change, and null removes an entry. Any other object is replaced as a whole, such as `actions` of the connector type `http`. If the scheme, host or port of a destination of secrets changes, each secret must be given again (code secret_required).',
  })
  readonly config?: Config;
}

export class TargetTest {
  @Flag()
  readonly success: boolean;

  @Text()
  readonly message: string;

  @WholeNumber({ min: 0 })
  readonly latency_ms: number;
}

export class ShownType {
  @Text()
  readonly name: string;

  @Text()
  readonly description: string;

  @JsonObject({ description: 'JSON Schema of `config`. Fields with writeOnly are secrets.' })
  readonly config_schema: ConfigSchema;
}

export function shownType(type: TargetType): ShownType {
  const { name, description, config } = type;
  return { name, description, config_schema: config };
}
