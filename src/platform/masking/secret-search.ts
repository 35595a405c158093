import { type ByteView, GAP } from './byte-view.js';

/** Shorter secrets are often parts of ordinary words and numbers, so they count only where they stand alone. */
const SHORTEST_ANYWHERE = 6;
/** In bytes that were decoded on a guess, so short a sequence appears by chance, even standing alone. */
const SHORTEST_WHEN_GUESSED = 3;
/** So much of a secret's beginning is masked like the whole: this many bytes, or two thirds of it when that is less. */
const LONG_BEGINNING = 12;
/** But no shorter beginning: so few letters could be guessed. */
const SHORTEST_BEGINNING = 8;
const SPACE = 0x20;
const DELETE = 0x7f;
const PLUS = 0x2b;

/**
 * Finds all secrets in one pass over the bytes (the algorithm of Aho and Corasick): neither many secrets nor a text made of
 * their beginnings makes it slow. Case, spaces, control characters and the plus that stands for a space make no
 * difference. Of a secret that was cut short, a long beginning is found where a word ends.
 */
export class SecretSearch {
  // The nodes of a tree in which every secret is a path from the root. 0 is the root, and also means that there is none.
  private readonly letter: Uint8Array;
  private readonly child: Int32Array;
  private readonly sibling: Int32Array;
  private readonly depth: Int32Array;
  /** The node to go on from when the next byte does not fit: the longest beginning of a secret with which this path ends. */
  private readonly fallback: Int32Array;
  /** The node of the longest secret that ends here: the node itself or one that its fallbacks lead to; 0 when there is none. */
  private readonly ending: Int32Array;
  /** The same for a long beginning of a secret. */
  private readonly beginning: Int32Array;
  private nodes = 1;

  constructor(secrets: readonly Uint8Array[]) {
    const size = secrets.reduce((sum, { length }) => sum + length, 1);
    this.letter = new Uint8Array(size);
    this.child = new Int32Array(size);
    this.sibling = new Int32Array(size);
    this.depth = new Int32Array(size);
    this.fallback = new Int32Array(size);
    this.ending = new Int32Array(size);
    this.beginning = new Int32Array(size);
    for (const secret of secrets) this.add(secret.map(folded).filter((byte) => byte !== SPACE));
    this.link();
  }

  /**
   * @param until the first character that was cut off, or is cut in two: a long beginning of a secret just before it is found, whatever follows
   * @param found is called with the first and the last byte of each secret
   */
  scan(view: ByteView, until: number, found: (first: number, last: number) => void): void {
    const { bytes, from } = view;
    const kept = new Uint32Array(bytes.length);
    let count = 0;
    let node = 0;
    let isPastCut = false;
    for (let at = 0; at < bytes.length; at += 1) {
      if (!isPastCut && from[at]! >= until) {
        isPastCut = true;
        const begun = this.beginning[node]!;
        if (begun > 0) found(kept[count - this.depth[begun]!]!, at - 1);
      }
      const byte = folded(bytes[at]!);
      if (byte === SPACE) continue;
      if (byte === GAP) {
        node = 0;
        continue;
      }
      kept[count] = at;
      count += 1;
      node = this.step(node, byte);
      for (let end = this.ending[node]!; end > 0; end = this.ending[this.fallback[end]!]!) {
        const length = this.depth[end]!;
        const first = kept[count - length]!;
        if (!counts(view, first, at, length)) continue;
        found(first, at);
        break;
      }
      const begun = this.beginning[node]!;
      if (begun > 0 && isBorder(bytes[at + 1])) found(kept[count - this.depth[begun]!]!, at);
    }
  }

  private add(secret: Uint8Array): void {
    let node = 0;
    const long = Math.min(LONG_BEGINNING, Math.ceil((secret.length * 2) / 3));
    for (const byte of secret) {
      node = this.childOf(node, byte) || this.grow(node, byte);
      if (this.depth[node]! >= Math.max(long, SHORTEST_BEGINNING)) this.beginning[node] = node;
    }
    this.ending[node] = node;
  }

  private grow(parent: number, byte: number): number {
    const node = this.nodes;
    this.nodes += 1;
    this.letter[node] = byte;
    this.depth[node] = this.depth[parent]! + 1;
    this.sibling[node] = this.child[parent]!;
    this.child[parent] = node;
    return node;
  }

  /** Sets the fallbacks, from the root outwards, because each of them is nearer to the root than its node. */
  private link(): void {
    const queue = new Int32Array(this.nodes);
    let known = 1;
    for (let turn = 0; turn < known; turn += 1) {
      const parent = queue[turn]!;
      for (let node = this.child[parent]!; node > 0; node = this.sibling[node]!) {
        const fallback = parent === 0 ? 0 : this.step(this.fallback[parent]!, this.letter[node]!);
        this.fallback[node] = fallback;
        if (this.ending[node] === 0) this.ending[node] = this.ending[fallback]!;
        if (this.beginning[node] === 0) this.beginning[node] = this.beginning[fallback]!;
        queue[known] = node;
        known += 1;
      }
    }
  }

  private step(from: number, byte: number): number {
    for (let node = from; ; node = this.fallback[node]!) {
      const next = this.childOf(node, byte);
      if (next > 0 || node === 0) return next;
    }
  }

  private childOf(parent: number, byte: number): number {
    let node = this.child[parent]!;
    while (node > 0 && this.letter[node] !== byte) node = this.sibling[node]!;
    return node;
  }
}

/** Whether what was found is a secret, and not a few bytes of something longer. */
function counts(view: ByteView, first: number, last: number, length: number): boolean {
  if (length >= SHORTEST_ANYWHERE) return true;
  const { bytes, from, to, guessed } = view;
  const [before, after] = [bytes[first - 1], bytes[last + 1]];
  if (guessed && length < SHORTEST_WHEN_GUESSED) return isGap(before) && isGap(after);
  // Characters that were skipped in decoding are a border, too.
  return (
    (isBorder(before) || to[first - 1]! < from[first]!) &&
    (isBorder(after) || to[last]! < from[last + 1]!)
  );
}

function isGap(byte = GAP): boolean {
  return byte === GAP;
}

/** Neither a letter nor a digit; every letter beyond ASCII has bytes of 0x80 and more. */
function isBorder(byte = GAP): boolean {
  if (byte === GAP) return true;
  const letter = byte | 0x20;
  return byte < 0x80 && !(letter >= 0x61 && letter <= 0x7a) && !(byte >= 0x30 && byte <= 0x39);
}

/** Letters become lower case. Spaces, control characters and the plus, which is a space in forms, become one and the same byte. */
function folded(byte: number): number {
  if (byte >= 0x41 && byte <= 0x5a) return byte | 0x20;
  return byte < SPACE || byte === DELETE || byte === PLUS ? SPACE : byte;
}
