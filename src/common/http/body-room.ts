/**
 * How much memory all bodies under way may take together. Strangers, who have no credential, get half of it at most: they
 * must not be able to keep out everybody else.
 */
export class BodyRoom {
  private taken = 0;
  private takenByStrangers = 0;

  constructor(private readonly bytes: number) {}

  /** False when there is not so much left. */
  take(bytes: number, isStranger: boolean): boolean {
    if (this.taken + bytes > this.bytes) return false;
    if (isStranger && this.takenByStrangers + bytes > this.bytes / 2) return false;
    this.giveBack(-bytes, isStranger);
    return true;
  }

  giveBack(bytes: number, isStranger: boolean): void {
    this.taken -= bytes;
    if (isStranger) this.takenByStrangers -= bytes;
  }
}
