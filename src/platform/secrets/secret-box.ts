import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type KeyRing, SecretKeys } from './secret-keys.js';
import { UnknownSecretKeyError, UnreadableSecretError } from './secrets.errors.js';

const CIPHER = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/**
 * Encryption at rest. A sealed secret has the form `v1.<key id>.<nonce, ciphertext and tag in base64url>`. The context,
 * such as `connector:<id>`, is authenticated with it, so that a sealed secret does not open in another record.
 */
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
    if (!named) throw new UnknownSecretKeyError(keyId);
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

  /** The same secret, sealed with the first key: for the rotation of keys. */
  reseal(sealed: string, context: string): string {
    return this.seal(this.open(sealed, context), context);
  }
}

function parse(sealed: string): { keyId: string; content: Buffer } {
  const [, keyId, encoded] = SEALED.exec(sealed) ?? [];
  const content = Buffer.from(encoded ?? '', 'base64url');
  if (keyId === undefined || content.length < NONCE_BYTES + TAG_BYTES)
    throw new UnreadableSecretError();
  return { keyId, content };
}
