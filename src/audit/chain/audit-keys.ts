import { Injectable } from '@nestjs/common';
import { type KeyRing, SecretKeys } from '../../platform/secrets/secret-keys.js';

/** The keys of the audit trail, derived from SECRETS_KEY: rows, seals and attestations each have their own. */
@Injectable()
export class AuditKeys {
  readonly rows: KeyRing;
  readonly chain: KeyRing;
  /** Sign what a later key says about seals of earlier ones. */
  readonly attestations: KeyRing;

  constructor(keys: SecretKeys) {
    this.rows = keys.derive('audit-row');
    this.chain = keys.derive('audit-chain');
    this.attestations = keys.derive('audit-attestation');
  }
}
