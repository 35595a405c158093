import { type ByteView, GAP } from './byte-view.js';

/** Shorter ones are ordinary words or digits as well: they count only where they stand alone. */
const SHORTEST_ANYWHERE = 6;
/** So short that noise holds them, even standing alone. */
const SHORTEST_IN_NOISE = 3;
/** So much of a secret's beginning is as good as all of it: this many bytes, or two thirds where that is less. */
const LONG_BEGINNING = 12;
const SPACE = 0x20;
const DELETE = 0x7f;
const PLUS = 0x2b;

/**
 * Finds any of many secrets in one pass (Aho and Corasick), so that neither their number nor a text that keeps
 * beginning one of them makes it slow. Case, spaces, control characters and the plus that stands for a space make no difference. Of a secret that
 * was cut short, a long beginning is found where a word ends.
 */
export class SecretSearch {
  // The nodes of the tree that all secrets make. 0 is its root, and nobody's child.
  private readonly letter: Uint8Array;
  private readonly child: Int32Array;
  private readonly sibling: Int32Array;
  private readonly depth: Int32Array;
  /** Where to go on when the next letter does not fit: the longest beginning of a secret with which this one ends. */
  private readonly fallback: Int32Array;
  /** The longest secret that ends here: the node itself, or one that its fallbacks lead to; 0 when there is none. */
  private readonly ending: Int32Array;
  /** The same of what is a long beginning of one, though not all of it. */
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
   * @param until the first character that will not be shown: a secret that only begins before it is found, too
   * @param found called with the first and the last byte of each
   */
  scan(view: ByteView, until: number, found: (first: number, last: number) => void): void {
    const { bytes, from } = view;
    const kept = new Uint32Array(bytes.length);
    let count = 0;
    let node = 0;
    let cut = false;
    for (let at = 0; at < bytes.length; at += 1) {
      if (!cut && from[at]! >= until) {
        cut = true;
        if (node > 0) found(kept[count - this.depth[node]!]!, at - 1);
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
      if (this.depth[node]! >= Math.max(long, SHORTEST_ANYWHERE)) this.beginning[node] = node;
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

  /** From the root outwards, because each fallback is nearer to it. */
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

function counts(view: ByteView, first: number, last: number, length: number): boolean {
  if (length >= SHORTEST_ANYWHERE) return true;
  const { bytes, from, to, guessed } = view;
  const [before, after] = [bytes[first - 1], bytes[last + 1]];
  if (guessed && length < SHORTEST_IN_NOISE) return isGap(before) && isGap(after);
  // What was skipped between two bytes that were decoded parts them, too.
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

/** Lower case; one byte for everything that is a space or a control character, or a plus, which is a space in forms. */
function folded(byte: number): number {
  if (byte >= 0x41 && byte <= 0x5a) return byte | 0x20;
  return byte < SPACE || byte === DELETE || byte === PLUS ? SPACE : byte;
}
