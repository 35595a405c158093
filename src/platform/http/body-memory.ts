import { type CountedNetwork, countedNetworks } from '../addresses/network.js';

/** A sender without a credential: only the address is known. */
export class Stranger {
  private constructor(readonly networks: readonly CountedNetwork[]) {}

  static at(address: string): Stranger {
    return new Stranger(countedNetworks(address));
  }
}

/** The sender of a body: the name of a principal or webhook source, a stranger, or not authenticated yet. */
type BodySender = string | Stranger | typeof NOT_AUTHENTICATED;
const NOT_AUTHENTICATED = Symbol('not authenticated yet');

/** Largest body that counts as small: a login, an approval, the kill switch, most events of a webhook. */
export const SMALL_BODY_BYTES = 16 * 1024;

interface Account {
  readonly name: string;
  /** Bytes that the account may hold. */
  readonly limit: number;
}

/** Of so many bodies the one to cut off is chosen: a network may have thousands of tiny ones. */
const MOST_COMPARED = 64;

/** An IPv6 /48 may use this many times the limit of one of its /64 networks. */
const WIDER_SHARE = 2;

/**
 * Bounds the memory of all request bodies that are being received. Strangers get at most half of it and one principal a
 * quarter. Large bodies get at most three quarters, so that a login, an approval or the kill switch always finds room.
 *
 * Small and large bodies of strangers have separate accounts for each network. So slow large bodies cannot block the
 * small webhooks and the logins that come from the same address, for example from behind one NAT. If the account for small
 * bodies is full, one that has not arrived completely is cut off: of the oldest, the body that has held most memory for longest.
 * So whoever holds many connections open keeps out nobody whose body arrives soon.
 */
export class BodyMemory {
  private readonly takenBy = new Map<string, number>();
  private taken = 0;
  /** For each account, its small bodies of which a part is still to come, the oldest first. */
  private readonly arriving = new Map<string, Set<BodyShare>>();

  /** `largest` is the largest allowed body. Two of them fit into the share of one principal or one network. */
  constructor(
    private readonly bytes: number,
    private readonly largest = bytes,
  ) {}

  /** Returns false if the sender's accounts have no room for `bytes` more. */
  reserve(bytes: number, sender: BodySender, isSmall: boolean): boolean {
    const limitOfLarge = Math.max((3 * this.bytes) / 4, this.largest);
    const limit = isSmall && !(sender instanceof Stranger) ? this.bytes : limitOfLarge;
    if (this.taken + bytes > limit) return false;
    if (this.fullAccount(bytes, sender, isSmall)) return false;
    this.release(-bytes, sender, isSmall);
    return true;
  }

  /** Notes whether a part of a small body of a stranger is still to come. */
  noteArriving(share: BodyShare, isArriving: boolean): void {
    for (const { name } of this.accountsOf(share.sender, true)) {
      const bodies = this.arriving.get(name) ?? new Set();
      if (isArriving) this.arriving.set(name, bodies.add(share));
      else if (bodies.delete(share) && bodies.size === 0) this.arriving.delete(name);
    }
  }

  /** The body to cut off so that a small body of a stranger finds room. `undefined` if none of them is in its way. */
  inTheWayOf(share: BodyShare, bytes: number): BodyShare | undefined {
    const { sender } = share;
    const full = sender instanceof Stranger ? this.fullAccount(bytes, sender, true) : undefined;
    let worst: BodyShare | undefined;
    let compared = 0;
    for (const other of (full && this.arriving.get(full.name)) ?? []) {
      if (other === share) continue;
      if ((compared += 1) > MOST_COMPARED) break;
      if (!worst || other.cost > worst.cost) worst = other;
    }
    return worst;
  }

  private fullAccount(bytes: number, sender: BodySender, isSmall: boolean): Account | undefined {
    return this.accountsOf(sender, isSmall).find(
      ({ name, limit }) => (this.takenBy.get(name) ?? 0) + bytes > limit,
    );
  }

  release(bytes: number, sender: BodySender, isSmall: boolean): void {
    this.taken -= bytes;
    for (const { name } of this.accountsOf(sender, isSmall)) {
      const left = (this.takenBy.get(name) ?? 0) - bytes;
      if (left === 0) this.takenBy.delete(name);
      else this.takenBy.set(name, left);
    }
  }

  private accountsOf(sender: BodySender, isSmall: boolean): Account[] {
    if (sender === NOT_AUTHENTICATED) return [];
    const twoOfLargest = 2 * this.largest;
    if (typeof sender === 'string') {
      return [{ name: `known ${sender}`, limit: Math.max(this.bytes / 4, twoOfLargest) }];
    }
    const half = this.bytes / 2;
    const size = isSmall ? 'small' : 'large';
    const limitOfNetwork = isSmall
      ? Math.max(half / 16, 2 * SMALL_BODY_BYTES)
      : Math.max(half / 4, twoOfLargest);
    const accounts = [
      { name: 'strangers', limit: isSmall ? half : Math.max(half, this.largest) },
      ...sender.networks.map(({ name, share }) => ({
        name: `${size} network ${name}`,
        limit: share === 1 ? limitOfNetwork : WIDER_SHARE * limitOfNetwork,
      })),
    ];
    if (!isSmall) {
      accounts.push({ name: 'large strangers', limit: Math.max(half / 2, this.largest) });
    }
    return accounts;
  }
}

/** The memory that one body holds. */
export class BodyShare {
  private bytes = 0;
  private isSmall: boolean;
  private owner: BodySender = NOT_AUTHENTICATED;
  private cutOff: (() => void) | undefined;
  private heldSince: number | undefined;

  /** `announcedBytes` is the Content-Length, NaN without one. A body that announces a large size is large from its first byte. */
  constructor(
    private readonly memory: BodyMemory,
    private readonly announcedBytes = NaN,
  ) {
    this.isSmall = this.isSmallWith(0);
  }

  get sender(): BodySender {
    return this.owner;
  }

  /** Bytes times milliseconds for which a part of the body was held. */
  get cost(): number {
    return this.heldSince === undefined ? 0 : this.bytes * (performance.now() - this.heldSince);
  }

  /** `cutOff` is called if a small body of the same network needs the room before `restArrived` is. */
  awaitRest(cutOff: () => void): void {
    this.cutOff = cutOff;
    this.noteArriving();
  }

  restArrived(): void {
    this.cutOff = undefined;
    this.noteArriving();
  }

  private giveWay(): void {
    const { cutOff } = this;
    this.release();
    cutOff?.();
  }

  private noteArriving(): void {
    if (!(this.owner instanceof Stranger)) return;
    const isArriving = this.cutOff !== undefined && this.isSmall && this.bytes > 0;
    if (isArriving) this.heldSince ??= performance.now();
    this.memory.noteArriving(this, isArriving);
  }

  /** Resizes the share to `bytes`. Returns false, and changes nothing, if the sender has no room for it. */
  resize(bytes: number): boolean {
    const isSmall = this.isSmallWith(bytes);
    this.memory.release(this.bytes, this.owner, this.isSmall);
    while (!this.memory.reserve(bytes, this.owner, isSmall)) {
      const other = isSmall ? this.memory.inTheWayOf(this, bytes) : undefined;
      if (!other) {
        this.memory.release(-this.bytes, this.owner, this.isSmall);
        return false;
      }
      other.giveWay();
    }
    this.bytes = bytes;
    this.isSmall = isSmall;
    this.noteArriving();
    return true;
  }

  /** Moves the share to the sender, once known. Returns false, and holds nothing, if the sender has no room for it. */
  assignTo(sender: BodySender): boolean {
    const { bytes } = this;
    this.release();
    this.owner = sender;
    return this.resize(bytes);
  }

  release(): void {
    this.restArrived();
    this.memory.release(this.bytes, this.owner, this.isSmall);
    this.bytes = 0;
  }

  private isSmallWith(bytes: number): boolean {
    return bytes <= SMALL_BODY_BYTES && !(this.announcedBytes > SMALL_BODY_BYTES);
  }
}
