import { Injectable } from '@nestjs/common';
import { type Release, Semaphore } from '../../platform/concurrency/semaphore.js';

export const MOST_PER_CONNECTOR = 8;

/** Gives a place back; again does nothing. */
export type GiveBack = Release;

/**
 * How much recovery and the queue of playbook runs ask of one vendor at a time. Each connector has places of its own: a
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

  /** Undefined when none is free; who waits in `within` comes first. */
  tryTake(connectorId: string): GiveBack | undefined {
    const release = this.of(connectorId).tryAcquire();
    if (!release) this.wanted.add(connectorId);
    return release && this.forgetIdle(connectorId, release);
  }

  /** Works in a place, in the order of asking. */
  async within<T>(connectorId: string, work: () => Promise<T>): Promise<T> {
    const giveBack = this.forgetIdle(connectorId, await this.of(connectorId).acquire());
    try {
      return await work();
    } finally {
      giveBack();
    }
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
