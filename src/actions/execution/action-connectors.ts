import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import type { Action } from '../action.js';
import { ActionsRepository } from '../actions.repository.js';
import { type Release, Semaphore } from '../../platform/concurrency/semaphore.js';

/** Finds the connector that executes an action. */
@Injectable()
export class ActionConnectors {
  constructor(
    private readonly registry: ConnectorRegistry,
    private readonly actions: ActionsRepository,
  ) {}

  async of({
    action_type,
    rollback_of,
  }: Pick<Action, 'action_type' | 'rollback_of'>): Promise<Connector | undefined> {
    if (rollback_of === undefined) return await this.registry.providerOf(action_type);
    const original = await this.actions.findById(rollback_of);
    return original && (await this.ofRollback(original, action_type));
  }

  /** Returns the connector of the original action. Another vendor would find nothing to undo and report success. */
  async ofRollback(
    { connector_id }: Pick<Action, 'connector_id'>,
    inverse: ActionTypeName,
  ): Promise<Connector | undefined> {
    return connector_id === undefined
      ? undefined
      : await this.registry.provider(connector_id, inverse);
  }
}

export const MOST_PER_CONNECTOR = 8;

/** Limits the simultaneous calls of each connector separately, so that a hanging vendor delays only its own actions. */
@Injectable()
export class ConnectorPlaces {
  private readonly all = new Map<string, Semaphore>();
  /** Connectors that had no free place for a request since their last release. */
  private readonly wanted = new Set<string>();
  private readonly listeners: (() => void)[] = [];

  /** Registers a listener for a free place of a connector that had none for an earlier request. */
  onFree(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Returns `undefined` if the connector has no free place. */
  tryTake(connectorId: string): Release | undefined {
    const release = this.of(connectorId).tryAcquire();
    if (!release) this.wanted.add(connectorId);
    return release && this.forgetIdle(connectorId, release);
  }

  /** Returns the connectors without a free place. */
  taken(): string[] {
    return [...this.all].flatMap(([connectorId, places]) => (places.isFull ? [connectorId] : []));
  }

  private of(connectorId: string): Semaphore {
    const known = this.all.get(connectorId) ?? new Semaphore(MOST_PER_CONNECTOR);
    this.all.set(connectorId, known);
    return known;
  }

  private forgetIdle(connectorId: string, release: Release): Release {
    return () => {
      release();
      if (this.all.get(connectorId)?.isIdle) this.all.delete(connectorId);
      if (this.wanted.delete(connectorId)) this.listeners.forEach((listener) => listener());
    };
  }
}
