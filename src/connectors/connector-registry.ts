import type { ActionTypeName } from '../action-catalogue/action-types.js';
import type { Connector } from './connector.port.js';

/** Finds the connector that carries out an action. */
export abstract class ConnectorRegistry {
  /** The enabled connector for an action type: the one of the lowest priority, then the first by name; undefined when there is none. */
  abstract providerOf(type: ActionTypeName): Promise<Connector | undefined>;

  /** By id, when it is enabled and provides the action type. */
  abstract provider(id: string, type: ActionTypeName): Promise<Connector | undefined>;

  /** By id, also when it is disabled by now: for asking about what was begun with it. */
  abstract find(id: string): Promise<Connector | undefined>;

  /** The action types that some enabled connector provides. */
  abstract availableTypes(): Promise<ReadonlySet<ActionTypeName>>;
}
