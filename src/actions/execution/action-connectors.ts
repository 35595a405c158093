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
    type,
    rollbackOf,
  }: Pick<Action, 'type' | 'rollbackOf'>): Promise<Connector | undefined> {
    if (rollbackOf === undefined) return await this.registry.providerOf(type);
    const original = await this.actions.findById(rollbackOf);
    return original && (await this.ofRollback(original, type));
  }

  /** The connector that did what is undone. Another vendor would find nothing to undo, and call that success. */
  async ofRollback(
    { connectorId }: Pick<Action, 'connectorId'>,
    inverse: ActionTypeName,
  ): Promise<Connector | undefined> {
    return connectorId === undefined
      ? undefined
      : await this.registry.provider(connectorId, inverse);
  }
}
