import type { KeyObject } from 'node:crypto';

export interface NamedKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of one purpose: the first is used for what is new, every one for what exists. */
export class KeyRing {
  readonly #byId: ReadonlyMap<string, NamedKey>;

  constructor(
    readonly first: NamedKey,
    all: readonly NamedKey[],
  ) {
    this.#byId = new Map(all.map((key) => [key.id, key]));
  }

  find(id: string): NamedKey | undefined {
    return this.#byId.get(id);
  }
}
