import { createSecretKey, type KeyObject } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * A key as the operator writes it. It becomes a KeyObject at once, which neither util.inspect nor JSON.stringify shows,
 * and the error never repeats what was given.
 */
export function readSecretKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
    throw new Error(`must be keys of ${KEY_BYTES} bytes in base64, comma separated`);
  }
  return createSecretKey(bytes);
}
