import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { FieldError } from '../platform/errors/app-error.js';
import type { Config, ConfigSchema } from './config/config-schema.js';
import type { ConfigDefinition, Destination } from './config/destinations.js';
import type { Connector, ConnectorIdentity } from './connector.port.js';

/**
 * A type of connector, such as `http`. A new one is a class in adapters/ and a line in ConnectorTypes. Its schema says
 * what a configuration may hold, which of it is secret, and what people read about it.
 */
export abstract class ConnectorType implements ConfigDefinition {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly schema: ConfigSchema;
  abstract readonly destinations: readonly Destination[];
  /** Every action type that a connector of this type can provide. */
  abstract readonly actions: readonly ActionTypeName[];
  /** At least so long lie between two of its regular checks: a vendor may count them. They come once a minute at most. */
  readonly checkedEveryMs: number = 0;
  /** Its connectors serve only while there is no connector of another type, enabled or not. */
  readonly servesOnlyAlone: boolean = false;

  problems(_config: Config, _path: string): FieldError[] {
    return [];
  }

  /** The action types that a connector with this configuration provides. */
  provides(_config: Config): readonly ActionTypeName[] {
    return this.actions;
  }

  /** @param config checked by the schema, and with its secrets */
  abstract create(identity: ConnectorIdentity, config: Config): Connector;
}
