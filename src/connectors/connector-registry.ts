import type { ActionTypeName } from '../actions/catalogue/action-types.js';
import type { Connector } from './connector.port.js';

/** Which configured connector serves an action. */
export abstract class ConnectorRegistry {
  /** The enabled connector that provides the type: the lowest priority, then the name; undefined when there is none. */
  abstract providerOf(type: ActionTypeName): Promise<Connector | undefined>;

  /** By id, for what was begun with it (polling, probing), even when it is disabled by now. */
  abstract find(id: string): Promise<Connector | undefined>;

  abstract availableTypes(): Promise<ReadonlySet<ActionTypeName>>;
}
