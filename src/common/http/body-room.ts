/**
 * How much memory all bodies under way may take together. Whoever is not known by a credential, or not yet, gets half of
 * it at most: strangers must not be able to keep out everybody else.
 */
export class BodyRoom {
  private readonly taken = { known: 0, strangers: 0 };

  constructor(private readonly bytes: number) {}

  /** False when there is not so much left. */
  take(bytes: number, isKnown: boolean): boolean {
    const { known, strangers } = this.taken;
    if (known + strangers + bytes > this.bytes) return false;
    if (!isKnown && strangers + bytes > this.bytes / 2) return false;
    this.taken[isKnown ? 'known' : 'strangers'] += bytes;
    return true;
  }

  giveBack(bytes: number, isKnown: boolean): void {
    this.taken[isKnown ? 'known' : 'strangers'] -= bytes;
  }
}
