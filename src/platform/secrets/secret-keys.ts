import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { SettingError } from '../config/load-settings.js';

export interface NamedKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of one purpose. New data is written with the first; existing data may need any of them. */
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

const KEY_BYTES = 32;
const ID_BYTES = 4;

/**
 * The keys of the installation. They are only used to derive other keys, one for each purpose (encrypting, signing,
 * chaining), so that knowing the key of one purpose tells nothing about the key of another.
 */
export class SecretKeys {
  readonly #keys: readonly NamedKey[];

  constructor(keys: readonly KeyObject[]) {
    this.#keys = keys.map((key) => ({ id: expand(key, 'id', ID_BYTES).toString('hex'), key }));
    if (this.#keys.length === 0) throw new SettingError('SECRETS_KEY must hold at least one key.');
    if (new Set(this.#keys.map(({ id }) => id)).size < keys.length) {
      throw new SettingError('SECRETS_KEY must not hold the same key twice.');
    }
  }

  /** The first is the one that new data is written with. */
  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  /** A value that is stored to recognise the key later. It tells nothing else about the key. */
  verifierOf(id: string): Buffer | undefined {
    const check = this.derive('key-check').find(id);
    return check && createHmac('sha256', check.key).update('the key of this database').digest();
  }

  /** The keys in the form of SECRETS_KEY. Only for a backup that was asked to hold the keys. */
  asSetting(): string {
    return this.#keys.map(({ key }) => key.export().toString('base64')).join(',');
  }

  /** The same purpose gives the same keys, in every process and after every restart. */
  derive(purpose: string): KeyRing {
    const derived = this.#keys.map(({ id, key }) => ({
      id,
      key: createSecretKey(expand(key, `use:${purpose}`, KEY_BYTES)),
    }));
    return new KeyRing(derived[0]!, derived);
  }
}

function expand(key: KeyObject, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `incident-triage-service/${info}`, bytes));
}
