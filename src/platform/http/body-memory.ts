/** Whose body it is: a principal, by name; everybody without a credential together; or nobody has asked yet. */
export type BodySender = string | typeof STRANGERS | typeof NOT_AUTHENTICATED;
export const STRANGERS = Symbol('strangers');
export const NOT_AUTHENTICATED = Symbol('not asked yet');

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
  reserve(bytes: number, holder: BodySender, isSmall: boolean): boolean {
    const most = isSmall && holder !== STRANGERS ? this.bytes : this.mostOfLarge;
    if (this.taken + bytes > most) return false;
    if ((this.takenBy.get(holder) ?? 0) + bytes > this.shareOf(holder)) return false;
    this.release(-bytes, holder);
    return true;
  }

  release(bytes: number, holder: BodySender): void {
    this.taken -= bytes;
    const left = (this.takenBy.get(holder) ?? 0) - bytes;
    if (left === 0) this.takenBy.delete(holder);
    else this.takenBy.set(holder, left);
  }

  private shareOf(holder: BodySender): number {
    if (holder === NOT_AUTHENTICATED) return this.bytes;
    return holder === STRANGERS ? this.bytes / 2 : this.mostOfOne;
  }
}
