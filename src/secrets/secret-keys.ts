import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { SettingError } from '../config/load-settings.js';
import { KeyRing, type NamedKey } from './key-ring.js';

const KEY_BYTES = 32;
const ID_BYTES = 4;

/**
 * The keys of the installation. They are used for one thing only, to derive others: what is encrypted, signed or
 * chained has a key of its own purpose, so that none of them says anything about another.
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

  /** The same purpose yields the same keys, in every process and after every restart. */
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
