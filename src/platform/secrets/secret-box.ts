import {
  createCipheriv,
  createDecipheriv,
  randomBytes,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { Injectable } from '@nestjs/common';

export interface NamedKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Keys of one purpose. The first key encrypts new data. Existing data may need any of the keys. */
export class KeyRing {
  constructor(
    readonly first: NamedKey,
    readonly older: readonly NamedKey[],
  ) {}

  find(id: string): NamedKey | undefined {
    return [this.first, ...this.older].find((one) => one.id === id);
  }
}

const KEY_BYTES = 32;
const ID_BYTES = 8;

/** Derives a separate key for each purpose, so that a leaked key reveals no key of another purpose. */
export class SecretKeys {
  readonly #keys: readonly NamedKey[];

  constructor(keys: readonly KeyObject[]) {
    this.#keys = keys.map((key) => ({ id: expand(key, 'id', ID_BYTES).toString('hex'), key }));
    if (this.#keys.length === 0) throw new Error('SECRETS_KEY must hold at least one key.');
    if (new Set(this.#keys.map(({ id }) => id)).size < keys.length) {
      throw new Error('SECRETS_KEY must not hold the same key twice.');
    }
  }

  /** The first id belongs to the key for new data. */
  get ids(): readonly string[] {
    return this.#keys.map(({ id }) => id);
  }

  derive(purpose: string): KeyRing {
    const [first, ...older] = this.#keys.map(({ id, key }) => {
      return { id, key: createSecretKey(expand(key, `use:${purpose}`, KEY_BYTES)) };
    });
    return new KeyRing(first!, older);
  }
}

function expand(key: KeyObject, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `incident-triage-service/${info}`, bytes));
}

/** One text for all reasons except an unknown key: an attacker who changes stored values learns nothing. */
export class UnreadableSecretError extends Error {
  constructor() {
    super('A stored secret cannot be decrypted: it was altered, or it belongs to another record.');
  }
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** At least 38 characters, which encode the nonce and the tag. */
const SEALED = /^v1\.([0-9a-f]{16})\.([A-Za-z0-9_-]{38,})$/;

/** Binds each value to a context, such as `connector:<id>`. A value cannot be opened in another context. */
@Injectable()
export class SecretBox {
  private readonly keys: KeyRing;

  constructor(keys: SecretKeys) {
    this.keys = keys.derive('secret-box');
  }

  seal(plain: string, context: string): string {
    const { id, key } = this.keys.first;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const parts = [nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return `v1.${id}.${Buffer.concat(parts).toString('base64url')}`;
  }

  open(sealed: string, context: string): string {
    const [, keyId, encoded] = SEALED.exec(sealed) ?? [];
    if (keyId === undefined) throw new UnreadableSecretError();
    const named = this.keys.find(keyId);
    if (!named) {
      throw new Error(
        `A stored secret was sealed with the key ${keyId}, which SECRETS_KEY does not contain.`,
      );
    }
    const content = Buffer.from(encoded!, 'base64url');
    const nonce = content.subarray(0, NONCE_BYTES);
    try {
      const decipher = createDecipheriv(CIPHER, named.key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(content.subarray(-TAG_BYTES));
      const plain = decipher.update(content.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]).toString('utf8');
    } catch {
      throw new UnreadableSecretError();
    }
  }
}
