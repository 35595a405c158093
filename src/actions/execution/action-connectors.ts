import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { ConnectorRegistry } from '../../connectors/connector-registry.js';
import type { Connector } from '../../connectors/connector-type.js';
import type { Action } from '../action.js';
import { ActionsRepository } from '../actions.repository.js';
import { type Release, Semaphore } from '../../platform/concurrency/semaphore.js';

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

export const MOST_PER_CONNECTOR = 8;

/** Gives a place back; again does nothing. */
export type GiveBack = Release;

/**
 * How much is asked of one vendor at a time. Each connector has places of its own: a
 * vendor that hangs keeps those waiting who want that vendor, and nobody else.
 */
@Injectable()
export class ConnectorPlaces {
  private readonly all = new Map<string, Semaphore>();
  /** Connectors of which somebody was refused a place since one was given back last. */
  private readonly wanted = new Set<string>();
  private readonly listeners: (() => void)[] = [];

  /** Called when a place is free that was refused before. */
  onFree(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Undefined when none is free. */
  tryTake(connectorId: string): GiveBack | undefined {
    const release = this.of(connectorId).tryAcquire();
    if (!release) this.wanted.add(connectorId);
    return release && this.forgetIdle(connectorId, release);
  }

  /** The connectors that have no place free. */
  taken(): string[] {
    return [...this.all].flatMap(([connectorId, places]) => (places.isFull ? [connectorId] : []));
  }

  private of(connectorId: string): Semaphore {
    const known = this.all.get(connectorId) ?? new Semaphore(MOST_PER_CONNECTOR);
    this.all.set(connectorId, known);
    return known;
  }

  private forgetIdle(connectorId: string, release: Release): GiveBack {
    return () => {
      release();
      if (this.all.get(connectorId)?.isIdle) this.all.delete(connectorId);
      if (this.wanted.delete(connectorId)) this.listeners.forEach((listener) => listener());
    };
  }
}
