import { Injectable } from '@nestjs/common';

export const MOST_PER_CONNECTOR = 8;

/** Gives a place back; again does nothing. */
export type GiveBack = () => void;

interface Places {
  taken: number;
  readonly queue: ((giveBack: GiveBack) => void)[];
}

/**
 * How much recovery asks of one vendor at a time. Each connector has places of its own: a vendor that hangs keeps those
 * waiting who want that vendor, and nobody else.
 */
@Injectable()
export class ConnectorPlaces {
  private readonly all = new Map<string, Places>();

  /** Undefined when none is free; who waits in `within` comes first. */
  tryTake(connectorId: string): GiveBack | undefined {
    const places = this.of(connectorId);
    if (places.taken === MOST_PER_CONNECTOR) return undefined;
    places.taken += 1;
    return this.once(connectorId, places);
  }

  /** Works in a place, in the order of asking. */
  async within<T>(connectorId: string, work: () => Promise<T>): Promise<T> {
    const giveBack = this.tryTake(connectorId) ?? (await this.turn(connectorId));
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  private turn(connectorId: string): Promise<GiveBack> {
    return new Promise((resolve) => this.of(connectorId).queue.push(resolve));
  }

  private of(connectorId: string): Places {
    const known = this.all.get(connectorId) ?? { taken: 0, queue: [] };
    this.all.set(connectorId, known);
    return known;
  }

  private once(connectorId: string, places: Places): GiveBack {
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = places.queue.shift();
      if (next) return next(this.once(connectorId, places));
      places.taken -= 1;
      if (places.taken === 0) this.all.delete(connectorId);
    };
  }
}
