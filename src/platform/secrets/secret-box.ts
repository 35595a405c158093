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
  readonly #byId: ReadonlyMap<string, NamedKey>;

  constructor(
    readonly first: NamedKey,
    all: readonly NamedKey[],
  ) {
    this.#byId = new Map(all.map((key) => [key.id, key]));
  }

  get older(): NamedKey[] {
    return [...this.#byId.values()].filter(({ id }) => id !== this.first.id);
  }

  find(id: string): NamedKey | undefined {
    return this.#byId.get(id);
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

/** One text for all reasons except an unknown key: an attacker who changes stored values learns nothing. */
export class UnreadableSecretError extends Error {
  constructor() {
    super('A stored secret cannot be decrypted: it was altered, or it belongs to another record.');
  }
}

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;

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
    const content = Buffer.concat([
      nonce,
      cipher.update(plain, 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return `${VERSION}.${id}.${content.toString('base64url')}`;
  }

  open(sealed: string, context: string): string {
    const { keyId, content } = parse(sealed);
    const named = this.keys.find(keyId);
    if (!named) {
      throw new Error(
        `A stored secret was sealed with the key ${keyId}, which SECRETS_KEY does not contain.`,
      );
    }
    try {
      const decipher = createDecipheriv(CIPHER, named.key, content.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(content.subarray(-TAG_BYTES));
      const plain = decipher.update(content.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]).toString('utf8');
    } catch {
      throw new UnreadableSecretError();
    }
  }
}

function parse(sealed: string): { keyId: string; content: Buffer } {
  const [, keyId, encoded] = SEALED.exec(sealed) ?? [];
  const content = Buffer.from(encoded ?? '', 'base64url');
  if (keyId === undefined || content.length < NONCE_BYTES + TAG_BYTES)
    throw new UnreadableSecretError();
  return { keyId, content };
}
