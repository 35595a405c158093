import { type CountedNetwork, countedNetworks } from '../addresses/network.js';

/** Somebody without a credential: all that is known is where the request comes from. */
export class Stranger {
  private constructor(readonly networks: readonly CountedNetwork[]) {}

  static at(address: string): Stranger {
    return new Stranger(countedNetworks(address));
  }
}

/** Who sends a body: a principal or a webhook source, by name; a stranger; or not found out yet. */
export type BodySender = string | Stranger | typeof NOT_AUTHENTICATED;
export const NOT_AUTHENTICATED = Symbol('not authenticated yet');

/** A body of no more counts as a small one: a login, an approval, the kill switch, most events of a webhook. */
export const SMALL_BODY_BYTES = 16 * 1024;

/** What a body takes from, and how full that may be for it to grow. */
interface Account {
  readonly name: string;
  readonly most: number;
}

/** The wider network around a stranger's has more than one of those in it, but not many times as much. */
const WIDER_SHARE = 2;

/**
 * How much memory all bodies under way may take together. Nobody gets all of it: strangers half at most, one principal a
 * quarter, and large bodies three quarters, so that a login, an approval or the kill switch always finds room. Among
 * strangers large bodies get half of that, one network a quarter, and for small bodies a sixteenth: a few networks that
 * send bodies as slowly as they may leave room for the webhooks of others.
 */
export class BodyMemory {
  private readonly takenBy = new Map<string, number>();
  private taken = 0;

  /** `largest`: what one body may have; two of them fit into the share of one principal, or of one network. */
  constructor(
    private readonly bytes: number,
    private readonly largest = bytes,
  ) {}

  /** False when there is not so much left for them. */
  reserve(bytes: number, sender: BodySender, isSmall: boolean): boolean {
    const ofLarge = Math.max((3 * this.bytes) / 4, this.largest);
    const most = isSmall && !(sender instanceof Stranger) ? this.bytes : ofLarge;
    if (this.taken + bytes > most) return false;
    const accounts = this.accountsOf(sender, isSmall);
    if (accounts.some(({ name, most }) => (this.takenBy.get(name) ?? 0) + bytes > most)) {
      return false;
    }
    this.release(-bytes, sender);
    return true;
  }

  release(bytes: number, sender: BodySender): void {
    this.taken -= bytes;
    for (const { name } of this.accountsOf(sender, true)) {
      const left = (this.takenBy.get(name) ?? 0) - bytes;
      if (left === 0) this.takenBy.delete(name);
      else this.takenBy.set(name, left);
    }
  }

  private accountsOf(sender: BodySender, isSmall: boolean): Account[] {
    if (sender === NOT_AUTHENTICATED) return [];
    const twoOfLargest = 2 * this.largest;
    if (typeof sender === 'string') {
      return [{ name: `known ${sender}`, most: Math.max(this.bytes / 4, twoOfLargest) }];
    }
    const half = this.bytes / 2;
    const all = isSmall ? half : Math.max(half / 2, this.largest);
    const ofOne = isSmall
      ? Math.max(half / 16, 2 * SMALL_BODY_BYTES)
      : Math.max(half / 4, twoOfLargest);
    return [
      { name: 'strangers', most: all },
      ...sender.networks.map(({ name, share }) => ({
        name: `network ${name}`,
        most: share === 1 ? ofOne : WIDER_SHARE * ofOne,
      })),
    ];
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
