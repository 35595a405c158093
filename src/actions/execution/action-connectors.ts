import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { ConnectorRegistry, type Connector } from '../../connectors/connector.port.js';
import type { Action } from '../action.js';
import { ActionsRepository } from '../records/actions.repository.js';

/** Which connector carries an action out. */
@Injectable()
export class ActionConnectors {
  constructor(
    private readonly registry: ConnectorRegistry,
    private readonly actions: ActionsRepository,
  ) {}

  /** Undefined when there is none. */
  async of({
    action_type,
    rollback_of,
  }: Pick<Action, 'action_type' | 'rollback_of'>): Promise<Connector | undefined> {
    if (rollback_of === undefined) return await this.registry.providerOf(action_type);
    const original = await this.actions.findById(rollback_of);
    return original && (await this.ofRollback(original, action_type));
  }

  /** The connector that did what is undone. Another vendor would find nothing to undo, and call that success. */
  async ofRollback(
    { connector_id }: Pick<Action, 'connector_id'>,
    inverse: ActionTypeName,
  ): Promise<Connector | undefined> {
    return connector_id === undefined
      ? undefined
      : await this.registry.provider(connector_id, inverse);
  }
}
