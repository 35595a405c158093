/** How long after the switch was read a gated request may still leave. */
export const PERMIT_MS = 1_000;

export interface PermitTimes {
  /** Cannot be set, but stands still while the machine sleeps. */
  readonly monotonic: number;
  /** Goes on while the machine sleeps, but can be set. */
  readonly wall: number;
}

export const presentTimes = (): PermitTimes => ({ monotonic: performance.now(), wall: Date.now() });

/** Too much time passed between reading the switch and sending: nothing was sent, and the switch has to be read again. */
export class PermitLapsed extends Error {
  constructor() {
    super(`The permit lapsed: more than ${PERMIT_MS} ms passed since the kill switch was read.`);
    this.name = new.target.name;
  }
}

/** That the kill switch was off at a time, which the permit counts from. */
export class Permit {
  /** @param since from before the switch was read */
  constructor(
    private readonly since: PermitTimes,
    private readonly now: () => PermitTimes = presentTimes,
  ) {}

  get fresh(): boolean {
    const { monotonic, wall } = this.now();
    return (
      monotonic - this.since.monotonic < PERMIT_MS && Math.abs(wall - this.since.wall) < PERMIT_MS
    );
  }

  /** Called immediately before the bytes of a gated request leave. */
  assertFresh(): void {
    if (!this.fresh) throw new PermitLapsed();
  }
}
