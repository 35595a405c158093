import type { ActionTypeName } from '../actions/catalogue/action-types.js';
import type { FieldError } from '../platform/errors/app-error.js';
import type { Config, ConfigSchema } from './config/config-schema.js';
import type { ConfigDefinition, Destination } from './config/destinations.js';
import type { Connector, ConnectorIdentity } from './connector.port.js';

/**
 * A kind of connector. A new one is a class in adapters/ and a line in ConnectorTypes: its schema is validation,
 * documentation and what is kept secret, all at once.
 */
export abstract class ConnectorType implements ConfigDefinition {
  abstract readonly name: string;
  abstract readonly description: string;
  abstract readonly schema: ConfigSchema;
  abstract readonly destinations: readonly Destination[];
  /** Every action type that a connector of this kind can provide. */
  abstract readonly actions: readonly ActionTypeName[];
  /** Serves only while no enabled connector of a lasting kind exists. */
  readonly standIn: boolean = false;

  problems(_config: Config, _path: string): FieldError[] {
    return [];
  }

  /** What a connector with this configuration provides. */
  provides(_config: Config): readonly ActionTypeName[] {
    return this.actions;
  }

  /** With a configuration that has been checked, its secrets included. */
  abstract create(identity: ConnectorIdentity, config: Config): Connector;
}
