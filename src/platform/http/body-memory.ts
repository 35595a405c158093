/** Who sends a body: a principal, by name; everybody without a credential together; or not found out yet. */
export type BodySender = string | typeof STRANGERS | typeof NOT_AUTHENTICATED;
export const STRANGERS = Symbol('strangers');
export const NOT_AUTHENTICATED = Symbol('not authenticated yet');

/** A body of no more counts as a small one: a login, an approval, the kill switch. */
export const SMALL_BODY_BYTES = 16 * 1024;

/**
 * How much memory all bodies under way may take together. Nobody gets all of it: strangers half at most, one principal a
 * quarter, and large bodies three quarters, so that a login, an approval or the kill switch always finds room.
 */
export class BodyMemory {
  private readonly takenBy = new Map<BodySender, number>();
  private taken = 0;
  private readonly mostOfOne: number;
  private readonly mostOfLarge: number;

  /** `largest`: what one body may have; two of them fit into the share of one principal. */
  constructor(
    private readonly bytes: number,
    largest = bytes,
  ) {
    this.mostOfOne = Math.max(bytes / 4, 2 * largest);
    this.mostOfLarge = Math.max((3 * bytes) / 4, largest);
  }

  /** False when there is not so much left for them. */
  reserve(bytes: number, sender: BodySender, isSmall: boolean): boolean {
    const most = isSmall && sender !== STRANGERS ? this.bytes : this.mostOfLarge;
    if (this.taken + bytes > most) return false;
    if ((this.takenBy.get(sender) ?? 0) + bytes > this.mostOf(sender)) return false;
    this.release(-bytes, sender);
    return true;
  }

  release(bytes: number, sender: BodySender): void {
    this.taken -= bytes;
    const left = (this.takenBy.get(sender) ?? 0) - bytes;
    if (left === 0) this.takenBy.delete(sender);
    else this.takenBy.set(sender, left);
  }

  private mostOf(sender: BodySender): number {
    if (sender === NOT_AUTHENTICATED) return this.bytes;
    return sender === STRANGERS ? this.bytes / 2 : this.mostOfOne;
  }
}

/** What one body has of that memory. */
export class BodyShare {
  private bytes = 0;
  private owner: BodySender = NOT_AUTHENTICATED;

  constructor(private readonly memory: BodyMemory) {}

  get sender(): BodySender {
    return this.owner;
  }

  /** Makes it as large as `bytes`; false when there is not so much left for the sender. */
  resize(bytes: number): boolean {
    const isSmall = bytes <= SMALL_BODY_BYTES;
    if (!this.memory.reserve(bytes - this.bytes, this.owner, isSmall)) return false;
    this.bytes = bytes;
    return true;
  }

  /** Counts it for the sender, who is known by now; false when the sender has too much already. */
  assignTo(sender: BodySender): boolean {
    const { bytes } = this;
    this.release();
    this.owner = sender;
    return this.resize(bytes);
  }

  release(): void {
    this.memory.release(this.bytes, this.owner);
    this.bytes = 0;
  }
}
