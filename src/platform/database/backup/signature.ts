import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { BackupError, type End, type Manifest } from './backup-format.js';

export interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Covers every byte: the checksum is that of all frames but the end, and the rest of the end is here. */
export function macOf(key: KeyObject, { tables, sha256 }: End): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([tables, sha256]))
    .digest('hex');
}

/** A checksum is right for whoever writes the file; only who has the key can make this. */
export function requireSignature(
  { manifest, end }: { readonly manifest: Manifest; readonly end: End },
  find: (keyId: string) => SigningKey | undefined,
): void {
  if (manifest.signed_by === undefined || end.mac === undefined) {
    refuse('it is not signed, so that anybody may have written it; --without-key restores it');
  }
  const signer = find(manifest.signed_by);
  if (!signer) refuse(`it is signed with the key ${manifest.signed_by}, which is not at hand`);
  const [said, own] = [Buffer.from(end.mac), Buffer.from(macOf(signer.key, end))];
  if (said.length !== own.length || !timingSafeEqual(said, own)) {
    refuse('its signature is wrong: somebody without the key changed it');
  }
}

function refuse(why: string): never {
  throw new BackupError(`The backup cannot be restored, and nothing was changed: ${why}.`);
}
