import type { Departure, Gate } from '../../connectors/connector.port.js';
import type { PermitGate } from '../../kill-switch/permit-gate.js';

/** The gate of one run: before the first request leaves, it is written down that one may have. */
export class RunGate implements Gate {
  private noted = false;

  constructor(
    private readonly permits: PermitGate,
    private readonly noteSending: () => Promise<void>,
  ) {}

  get opened(): boolean {
    return this.permits.opened;
  }

  send<T>(request: (departure: Departure) => Promise<T>): Promise<T> {
    return this.permits.send((departure) =>
      request({
        signal: departure.signal,
        leave: async () => {
          if (!this.noted) await this.noteSending();
          this.noted = true;
          await departure.leave();
        },
      }),
    );
  }
}
