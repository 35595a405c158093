import { Injectable } from '@nestjs/common';
import { type KeyRing, SecretKeys } from '../../platform/secrets/secret-keys.js';

/** Rows and chain have keys of their own. */
@Injectable()
export class AuditKeys {
  readonly rows: KeyRing;
  readonly chain: KeyRing;
  /** For what a later key says about what earlier ones sealed. */
  readonly attestations: KeyRing;

  constructor(keys: SecretKeys) {
    this.rows = keys.derive('audit-row');
    this.chain = keys.derive('audit-chain');
    this.attestations = keys.derive('audit-attestation');
  }
}
